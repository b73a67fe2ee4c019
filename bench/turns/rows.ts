import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { Resampler } from '../../runtime/media/dsp/resample.ts'

/** Rate at which everything is judged: that of the local models. */
export const JUDGED_RATE_HZ = 16_000
/** Silences that count, by eot-bench: of a held turn from 0.2 to 5 s, and every one at its end. */
const MIN_SPAN_S = 0.1
const HELD_S = { least: 0.2, most: 5 } as const

export interface SilenceSpan {
  /** Seconds from the start of the audio. */
  readonly start: number
  readonly end: number
}

export interface SpokenWord {
  readonly word: string
  readonly start: number
  readonly end: number
}

/**
 * One turn of a caller in the schema of eot-bench (github livekit/eot-bench, eot_harness/io.py of June 2026): the last of its silences is
 * the end of the turn, every earlier one was held. `kind`, `voice` and `part` are our own.
 */
export interface Turn {
  readonly id: string
  readonly language: string
  /** A WAV file of 16-bit mono sound, beside the list. */
  readonly audio: { readonly path: string }
  readonly silence_spans: readonly SilenceSpan[]
  readonly messages?: readonly { readonly role: string; readonly content: string }[] | null
  readonly words?: readonly SpokenWord[] | null
  readonly kind?: string
  readonly voice?: string
  /** The rules may be fitted to `fit` alone. */
  readonly part?: 'fit' | 'test'
}

/** A silence of a turn that is judged. */
export interface Pause {
  readonly turn: Turn
  readonly startS: number
  readonly lengthS: number
  readonly isEnd: boolean
}

/** The turns of a folder: `turns.jsonl` and the sounds that it names. */
export async function readTurns(folder: string): Promise<Turn[]> {
  const text = await readFile(join(folder, 'turns.jsonl'), 'utf8')
  return text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Turn)
}

/** The silences of a turn that eot-bench counts. */
export function pausesOf(turn: Turn): Pause[] {
  return turn.silence_spans.flatMap(({ start, end }, index) => {
    const lengthS = end - start
    const isEnd = index === turn.silence_spans.length - 1
    if (lengthS < MIN_SPAN_S || (!isEnd && (lengthS < HELD_S.least || lengthS > HELD_S.most))) return []
    return [{ turn, startS: start, lengthS, isEnd }]
  })
}

/** What a recogniser has said by then, if its words come so late. */
export function wordsBy({ words }: Turn, atS: number, lateS: number): string {
  return (words ?? [])
    .filter(({ end }) => end <= atS - lateS + 1e-6)
    .map(({ word }) => word.trim())
    .join(' ')
}

/** What the agent said last. */
export function saidBefore({ messages }: Turn): string {
  return messages?.findLast(({ role }) => role === 'assistant')?.content ?? ''
}

/** The sound of a turn at 16 kHz. */
export async function soundOf(folder: string, { audio }: Turn): Promise<Int16Array> {
  return samplesOfWav(await readFile(join(folder, audio.path)), JUDGED_RATE_HZ)
}

/** The samples of a 16-bit mono WAV file at a rate. @throws Error it is none */
export function samplesOfWav(wav: Buffer, rateHz: number): Int16Array {
  if (wav.toString('latin1', 0, 4) !== 'RIFF') throw new Error('The file is no WAV file; convert it with sox or ffmpeg')
  let fromHz = 0
  for (let at = 12; at + 8 <= wav.length; ) {
    const id = wav.toString('latin1', at, at + 4)
    const length = wav.readUInt32LE(at + 4)
    if (id === 'fmt ') {
      fromHz = wav.readUInt32LE(at + 12)
      const [channels, bits] = [wav.readUInt16LE(at + 10), wav.readUInt16LE(at + 22)]
      if (channels !== 1 || bits !== 16)
        throw new Error(`The WAV file has ${channels} channels of ${bits} bits; wanted: 1 of 16`)
    }
    if (id === 'data') {
      // A program that writes to a pipe doesn't know the length yet.
      const bytes = wav.subarray(at + 8, Math.min(wav.length, at + 8 + length))
      const samples = new Int16Array(new Uint8Array(bytes.subarray(0, bytes.length & ~1)).buffer)
      return fromHz === rateHz ? samples : new Resampler(fromHz, rateHz).push(samples)
    }
    at += 8 + length + (length % 2)
  }
  throw new Error('The WAV file has no data')
}

/** A 16-bit mono WAV file. */
export function wavOf(samples: Int16Array, rateHz: number): Buffer {
  const head = Buffer.alloc(44)
  head.write('RIFF', 0, 'latin1')
  head.writeUInt32LE(36 + samples.byteLength, 4)
  head.write('WAVEfmt ', 8, 'latin1')
  head.writeUInt32LE(16, 16)
  head.writeUInt16LE(1, 20)
  head.writeUInt16LE(1, 22)
  head.writeUInt32LE(rateHz, 24)
  head.writeUInt32LE(rateHz * 2, 28)
  head.writeUInt16LE(2, 32)
  head.writeUInt16LE(16, 34)
  head.write('data', 36, 'latin1')
  head.writeUInt32LE(samples.byteLength, 40)
  return Buffer.concat([head, Buffer.from(samples.buffer, samples.byteOffset, samples.byteLength)])
}
