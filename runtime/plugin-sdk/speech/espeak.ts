import { boundary } from '../../lib/async/boundary.ts'
import { signalWithin } from '../../lib/async/signal-within.ts'
import { PatchbayError } from '../../lib/errors.ts'
import { joinSamples } from '../../media/frame.ts'
import type { PluginHost } from '../../plugin/contract.ts'

/** A program start, as a plugin's `host.run.spawn` does it. */
export type Spawn = PluginHost['run']['spawn']

export interface EspeakOptions {
  /** A language, or a language and a variant: `en-us`, `de+f3`. */
  voice: string
  /** Words a minute, 80–450. */
  wordsPerMinute?: number
  /** 0–99, 50 is the voice's own. */
  pitch?: number
  /** Leave out the pause espeak-ng puts after the last sentence. */
  trimEnd?: boolean
}

/** Rate of every espeak-ng voice that is not an MBROLA one. */
export const ESPEAK_SAMPLE_RATE_HZ = 22_050

const PROGRAM = 'espeak-ng'
/** Silence that separates the texts of one run: longer than any pause in a sentence. */
const APART_MS = 2_000
const TIMEOUT_MS = 15_000
/** For each text of a run on a busy machine. */
const TIMEOUT_PER_TEXT_MS = 2_000
const MAX_STDERR_BYTES = 1_000
const MAX_HEADER_BYTES = 4_096

/**
 * Speaks a text through espeak-ng: mono 16-bit samples at ESPEAK_SAMPLE_RATE_HZ, passed on as the program writes them.
 * Leaving the loop or aborting `signal` ends the program; an aborted run ends without an error.
 * @throws PatchbayError `plugin` when the program is missing, refuses the voice or hangs; `permission_denied`
 */
export async function* espeak(
  spawn: Spawn,
  text: string,
  options: EspeakOptions,
  signal: AbortSignal,
): AsyncGenerator<Int16Array<ArrayBuffer>> {
  const spoken = speakable(text)
  if (spoken !== '') yield* run(spawn, spoken, { ...options, flags: [], timeoutMs: TIMEOUT_MS }, signal)
}

/**
 * Speaks several texts in one run of the program, whose start takes longer than a sentence: the samples of each, without the silence
 * around it; no samples for a text without sound. Aborting `signal` ends it with nothing.
 * @throws as `espeak`
 */
export async function espeakEach(
  spawn: Spawn,
  texts: readonly string[],
  options: EspeakOptions,
  signal: AbortSignal,
): Promise<Int16Array[]> {
  const spoken = texts.map(speakable)
  const markup = spoken.map((text) => `<p>${escaped(text)}</p><break time="${APART_MS}ms"/>\n`)
  if (spoken.length > 1 && !spoken.includes('')) {
    const timeoutMs = TIMEOUT_MS + texts.length * TIMEOUT_PER_TEXT_MS
    const each = partsOf(await collected(run(spawn, markup.join(''), { ...options, flags: ['-m'], timeoutMs }, signal)))
    // One that only sounds like silence leaves too few.
    if (each.length === texts.length || signal.aborted) return each
  }
  const each: Int16Array[] = []
  for (const text of texts) each.push(withoutSilence(await collected(espeak(spawn, text, options, signal))))
  return each
}

async function* run(
  spawn: Spawn,
  spoken: string,
  options: EspeakOptions & { flags: readonly string[]; timeoutMs: number },
  signal: AbortSignal,
): AsyncGenerator<Int16Array<ArrayBuffer>> {
  if (signal.aborted) return
  const { flags, timeoutMs } = options
  const limit = signalWithin(timeoutMs, signal)
  const child = spawn(PROGRAM, [...espeakArguments(options), ...flags], { signal: limit })
  let failure: Error | undefined
  let complaint = ''
  child.on(
    'error',
    boundary('provider', (error) => {
      failure = error
    }),
  )
  child.stderr.on(
    'data',
    boundary('provider', (chunk: Buffer) => {
      if (complaint.length < MAX_STDERR_BYTES) complaint += chunk.toString()
    }),
  )
  // A child that dies before it reads its text closes this pipe; its exit code tells why.
  child.stdin.on('error', () => {})
  const closed = new Promise<number | null>((resolve) => child.once('close', resolve))
  try {
    child.stdin.end(spoken)
    const wav = new WavSamples()
    for await (const chunk of child.stdout) {
      const samples = wav.push(chunk as Buffer)
      if (signal.aborted) return
      if (samples.length > 0) yield samples
    }
    const code = await closed
    if (signal.aborted) return
    if (limit.aborted) throw new PatchbayError('timeout', { params: { action: PROGRAM, timeoutMs } })
    if (failure || code !== 0) throw espeakError(options.voice, complaint, failure)
  } finally {
    if (child.exitCode === null && child.signalCode === null) child.kill('SIGKILL')
  }
}

async function collected(pieces: AsyncIterable<Int16Array>): Promise<Int16Array> {
  const all: Int16Array[] = []
  for await (const piece of pieces) all.push(piece)
  return joinSamples(all)
}

/** What lies between silences of APART_MS or little less. */
function partsOf(samples: Int16Array): Int16Array[] {
  const apart = (ESPEAK_SAMPLE_RATE_HZ * APART_MS * 0.8) / 1_000
  const parts: Int16Array[] = []
  let first = 0
  let end = 0
  for (let i = 0; i < samples.length; i++) {
    if (samples[i] === 0) continue
    if (end === 0) first = i
    else if (i - end > apart) {
      parts.push(samples.subarray(first, end))
      first = i
    }
    end = i + 1
  }
  if (end > 0) parts.push(samples.subarray(first, end))
  return parts
}

function withoutSilence(samples: Int16Array): Int16Array {
  const first = samples.findIndex((sample) => sample !== 0)
  return first === -1 ? new Int16Array(0) : samples.subarray(first, samples.findLastIndex((sample) => sample !== 0) + 1)
}

const escaped = (text: string): string => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')

/** Whether a name can be an espeak-ng voice. Anything else could name a file. */
function isVoiceName(voice: string): boolean {
  return /^[a-z]{2,3}(-[a-z0-9]+)*(\+[a-z0-9_-]+)?$/i.test(voice)
}

function espeakArguments(options: EspeakOptions): string[] {
  if (!isVoiceName(options.voice)) throw espeakError(options.voice, 'not the name of an espeak-ng voice')
  const args = ['-v', options.voice, '-b', '1', '--stdin', '--stdout']
  if (options.wordsPerMinute !== undefined) args.push('-s', String(Math.round(options.wordsPerMinute)))
  if (options.pitch !== undefined) args.push('-p', String(Math.round(options.pitch)))
  if (options.trimEnd) args.push('-z')
  return args
}

/** Removes what espeak-ng would read as phoneme input (`[[…]]`) or as a control character. */
function speakable(text: string): string {
  return text
    .replace(/\[\[|\]\]/g, ' ')
    .replace(/\p{Cc}+/gu, ' ')
    .trim()
}

function espeakError(voice: string, complaint: string, cause?: Error): PatchbayError {
  const missing = cause !== undefined && 'code' in cause && cause.code === 'ENOENT'
  const reason = missing
    ? `Program "${PROGRAM}" was not found; install it (Debian: apt-get install ${PROGRAM})`
    : `Program "${PROGRAM}" could not speak with voice "${voice}": ${complaint.trim() || (cause?.message ?? 'it failed')}`
  return new PatchbayError('plugin', { params: { reason }, cause })
}

/** Takes the samples out of a WAV stream whose sizes are unknown while it is written (RIFF chunks: 8-byte headers). */
class WavSamples {
  #pending: Buffer = Buffer.alloc(0)
  #inData = false

  push(chunk: Buffer): Int16Array<ArrayBuffer> {
    let bytes = this.#pending.length === 0 ? chunk : Buffer.concat([this.#pending, chunk])
    if (!this.#inData) {
      const start = dataStart(bytes)
      if (start === undefined) {
        if (bytes.length > MAX_HEADER_BYTES) throw espeakError('', 'it did not write a WAV stream')
        this.#pending = bytes
        return new Int16Array(0)
      }
      this.#inData = true
      bytes = bytes.subarray(start)
    }
    const even = bytes.length & ~1
    this.#pending = bytes.subarray(even)
    const samples = new Int16Array(even / 2)
    for (let i = 0; i < samples.length; i++) samples[i] = bytes.readInt16LE(2 * i)
    return samples
  }
}

/** Offset of the first sample, or undefined when the header is not complete yet. */
function dataStart(bytes: Buffer): number | undefined {
  let offset = 12
  while (offset + 8 <= bytes.length) {
    if (bytes.toString('latin1', offset, offset + 4) === 'data') return offset + 8
    offset += 8 + bytes.readUInt32LE(offset + 4)
  }
  return undefined
}
