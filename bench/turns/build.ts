import { mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { decodeG711, encodeG711 } from '../../runtime/media/codecs/g711.ts'
import { Resampler } from '../../runtime/media/dsp/resample.ts'
import { joinSamples } from '../../runtime/media/frame.ts'
import { seeded } from '../../test/support/phone/numbers.ts'
import { JUDGED_RATE_HZ, type SilenceSpan, type SpokenWord, type Turn, wavOf } from './rows.ts'
import { cacheFolder, cut, fetchRecordings, PROMPTS, type Recordings, synthesised } from './sources.ts'

const SET = join(import.meta.dirname, 'set')
const LANGUAGES = ['en', 'de', 'es', 'fr', 'it', 'pt'] as const
const SAMPLES_PER_MS = JUDGED_RATE_HZ / 1000
/** Of the quiet line after a turn. */
const END_SILENCE_MS = 3_600
/** How long people pause within a turn: the quantiles that silence alone has on eot-bench's English turns. */
const PAUSE_QUANTILES_S: readonly (readonly [share: number, lengthS: number])[] = [
  [0, 0.2],
  [0.444, 0.3],
  [0.783, 0.6],
  [0.9, 1],
  [0.95, 1.6],
  [1, 2.5],
]
/** A recogniser sets a full stop behind half a sentence, and none behind a whole one, so often. */
const FALSE_STOPS = 0.25
const MISSING_STOPS = 0.2

const DIGITS: Readonly<Record<string, string>> = {
  en: 'zero one two three four five six seven eight nine',
  es: 'cero uno dos tres cuatro cinco seis siete ocho nueve',
  fr: 'zéro un deux trois quatre cinq six sept huit neuf',
  it: 'zero uno due tre quattro cinque sei sette otto nove',
  de: 'null eins zwei drei vier fünf sechs sieben acht neun',
  pt: 'zero um dois três quatro cinco seis sete oito nove',
}
const ASKS_PHONE: Readonly<Record<string, string>> = {
  en: 'What is your phone number?',
  es: '¿Cuál es su número de teléfono?',
  fr: 'Quel est votre numéro de téléphone ?',
  it: 'Qual è il suo numero di telefono?',
  de: 'Wie ist Ihre Telefonnummer?',
  pt: 'Qual é o seu número de telefone?',
}
const ASKS_NUMBER: Readonly<Record<string, string>> = {
  en: 'What is your order number?',
  es: '¿Cuál es el número de su pedido?',
  fr: 'Quel est le numéro de votre commande ?',
  it: 'Qual è il numero del suo ordine?',
  de: 'Wie ist Ihre Bestellnummer?',
  pt: 'Qual é o número do seu pedido?',
}
const ASKS_SPELLING: Readonly<Record<string, string>> = {
  en: 'How do you spell that?',
  es: '¿Cómo se deletrea?',
  fr: 'Comment ça s’écrit ?',
  it: 'Come si scrive?',
}
/** How people part a number that they dictate. */
const PHONE_GROUPS = [
  [3, 3, 4],
  [2, 2, 2, 2, 2],
  [3, 4, 4],
  [5, 5],
  [4, 3, 3],
  [1, 3, 3, 4],
] as const
const NUMBER_GROUPS = [[3, 3], [4, 4], [2, 2, 2], [3, 2], [4], [1, 3, 3]] as const
const SPELT = ['miller', 'kowalski', 'ferreira', 'dupont', 'schmidt', 'ngo'] as const

/** Speech, then a pause that is held; undefined: the turn is over. */
interface Part {
  readonly samples: Int16Array
  readonly words: readonly SpokenWord[]
  readonly pauseS: number | undefined
}

/** Builds the set of labelled pauses anew. Its folder is returned. */
export async function buildTurns(): Promise<string> {
  const recordings = await fetchRecordings()
  const folder = join(cacheFolder(), 'set')
  await rm(folder, { recursive: true, force: true })
  await mkdir(join(folder, 'audio'), { recursive: true })
  const random = seeded(20_261_128)
  const turns: Turn[] = []
  const add = async (turn: Omit<Turn, 'id' | 'audio' | 'silence_spans' | 'words'>, parts: readonly Part[]) => {
    const id = `${turn.language}-${turn.kind}-${turns.length}`
    const { samples, words } = joined(parts, random)
    const sound = turns.length % 2 === 0 ? samples : overTelephone(samples)
    const path = `audio/${id}.wav`
    await writeFile(join(folder, path), wavOf(sound, JUDGED_RATE_HZ))
    const spans = silencesOf(sound)
    turns.push({ id, ...turn, audio: { path }, silence_spans: spans, words: asRecognised(words, spans, random) })
  }
  for (const language of LANGUAGES) {
    await addDialogue(language, random, add)
    for (const asks of [ASKS_PHONE, ASKS_NUMBER]) await addNumbers(language, asks, recordings, random, add)
    if (language in PROMPTS) await addSpelling(language, recordings, random, add)
  }
  await addReadings(recordings, add)
  await writeFile(join(folder, 'turns.jsonl'), `${turns.map((turn) => JSON.stringify(turn)).join('\n')}\n`)
  return folder
}

type Add = (turn: Omit<Turn, 'id' | 'audio' | 'silence_spans' | 'words'>, parts: readonly Part[]) => Promise<void>
type Random = () => number

const partOf = (index: number): 'fit' | 'test' => (index % 2 === 0 ? 'fit' : 'test')
const asked = (content: string) => [{ role: 'assistant', content }]

async function addDialogue(language: string, random: Random, add: Add): Promise<void> {
  const lines = (await readFile(join(SET, `${language}.tsv`), 'utf8')).trim().split('\n')
  for (const [index, line] of lines.entries()) {
    const [question = '', answer = ''] = line.split('\t')
    const texts = answer.split(' | ')
    const parts: Part[] = []
    for (const [at, text] of texts.entries()) {
      const samples = await synthesised(language, text, index)
      const pauseS = at === texts.length - 1 ? undefined : pauseLength(random())
      parts.push({ samples, words: spread(text.split(' '), samples.length), pauseS })
    }
    const part = partOf(index)
    await add({ language, kind: 'dialogue', voice: 'synthetic', part, messages: asked(question) }, parts)
  }
}

async function addNumbers(
  language: string,
  asks: Readonly<Record<string, string>>,
  recordings: Recordings,
  random: Random,
  add: Add,
): Promise<void> {
  const names = DIGITS[language]!.split(' ')
  const isHuman = language in PROMPTS
  for (const [index, groups] of (asks === ASKS_PHONE ? PHONE_GROUPS : NUMBER_GROUPS).entries()) {
    const parts: Part[] = []
    for (const [at, length] of groups.entries()) {
      const digits = Array.from({ length }, () => Math.floor(random() * 10))
      const written = digits.map((digit) => (index % 2 === 0 ? String(digit) : names[digit]!))
      const pauseS = at === groups.length - 1 ? undefined : pauseLength(random())
      if (isHuman) {
        const sounds = await Promise.all(digits.map((digit) => recordings.prompt(language, `digits/${digit}`)))
        parts.push({ ...strung(sounds, written, random), pauseS })
      } else {
        const samples = await synthesised(language, digits.map((digit) => names[digit]).join(' '), index)
        parts.push({ samples, words: spread(written, samples.length), pauseS })
      }
    }
    const voice = isHuman ? 'human' : 'synthetic'
    await add({ language, kind: 'number', voice, part: partOf(index), messages: asked(asks[language]!) }, parts)
  }
}

async function addSpelling(language: string, recordings: Recordings, random: Random, add: Add): Promise<void> {
  for (const [index, name] of SPELT.entries()) {
    const letters = [...name]
    const parts: Part[] = []
    for (let from = 0; from < letters.length; ) {
      const to = Math.min(letters.length, from + 2 + Math.floor(random() * 2))
      const group = letters.slice(from, to)
      const sounds = await Promise.all(group.map((letter) => recordings.prompt(language, `letters/${letter}`)))
      const written = group.map((letter) => letter.toUpperCase())
      const pauseS = to === letters.length ? undefined : pauseLength(random())
      parts.push({ ...strung(sounds, written, random), pauseS })
      from = to
    }
    const messages = asked(ASKS_SPELLING[language]!)
    await add({ language, kind: 'spelling', voice: 'human', part: partOf(index), messages }, parts)
  }
}

/** Read English, with its own pauses; the times of its words are Whisper's (tiny.en). */
async function addReadings(recordings: Recordings, add: Add): Promise<void> {
  const lines = (await readFile(join(SET, 'readings.jsonl'), 'utf8')).trim().split('\n')
  for (const [index, line] of lines.entries()) {
    const { source, name, fromMs, toMs, words } = JSON.parse(line) as {
      source: string
      name: string
      fromMs?: number
      toMs?: number
      words: string
    }
    const whole = await (source === 'asterisk' ? recordings.prompt('en', name) : recordings.reading(name))
    const samples =
      fromMs === undefined || toMs === undefined ? whole : whole.slice(fromMs * SAMPLES_PER_MS, toMs * SAMPLES_PER_MS)
    const placed = words.split(' ').map((one) => {
      const [, word = '', start, end] = /^(.*)\/(\d+)\/(\d+)$/.exec(one) ?? []
      return { word, start: Number(start) / 1000, end: Number(end) / 1000 }
    })
    const kind = source === 'asterisk' ? 'reading' : 'prose'
    await add({ language: 'en', kind, voice: 'human', part: partOf(index) }, [
      { samples, words: placed, pauseS: undefined },
    ])
  }
}

/** How long a pause lasts of which so many are shorter. */
function pauseLength(share: number): number {
  const above = Math.max(
    1,
    PAUSE_QUANTILES_S.findIndex(([at]) => at >= share),
  )
  const [[fromShare, fromS], [toShare, toS]] = [PAUSE_QUANTILES_S[above - 1]!, PAUSE_QUANTILES_S[above]!]
  return fromS * (toS / fromS) ** ((share - fromShare) / (toShare - fromShare))
}

/** Words spread over a sound by their length. */
function spread(words: readonly string[], samples: number): SpokenWord[] {
  const letters = words.reduce((sum, word) => sum + word.length + 1, 0)
  const lengthS = samples / JUDGED_RATE_HZ
  let said = 0
  return words.map((word) => {
    const start = (said / letters) * lengthS
    said += word.length + 1
    return { word, start, end: (said / letters) * lengthS }
  })
}

/** Recorded words one after the other. */
function strung(sounds: readonly Int16Array[], words: readonly string[], random: Random): Omit<Part, 'pauseS'> {
  const pieces: Int16Array[] = []
  const placed: SpokenWord[] = []
  let at = 0
  for (const [index, sound] of sounds.entries()) {
    const piece = cut(sound)
    placed.push({ word: words[index]!, start: at / JUDGED_RATE_HZ, end: (at + piece.length) / JUDGED_RATE_HZ })
    const gap = index === sounds.length - 1 ? 0 : Math.round((30 + 60 * random()) * SAMPLES_PER_MS)
    pieces.push(piece, new Int16Array(gap))
    at += piece.length + gap
  }
  return { samples: joinSamples(pieces), words: placed }
}

/** One sound of a turn with the quiet line after it. */
function joined(parts: readonly Part[], random: Random): { samples: Int16Array; words: SpokenWord[] } {
  const pieces: Int16Array[] = []
  const words: SpokenWord[] = []
  let at = 0
  for (const part of parts) {
    const fromS = at / JUDGED_RATE_HZ
    words.push(...part.words.map(({ word, start, end }) => ({ word, start: start + fromS, end: end + fromS })))
    const pauseMs = part.pauseS === undefined ? END_SILENCE_MS : part.pauseS * 1000
    const pause = new Int16Array(Math.round(pauseMs * SAMPLES_PER_MS))
    pieces.push(part.samples, pause)
    at += part.samples.length + pause.length
  }
  const samples = joinSamples(pieces)
  for (let i = 0; i < samples.length; i++)
    samples[i] = Math.max(-32_768, Math.min(32_767, samples[i]! + Math.round(random() * 24 - 12)))
  return { samples, words }
}

function overTelephone(samples: Int16Array): Int16Array {
  const narrow = new Resampler(JUDGED_RATE_HZ, 8_000).push(samples)
  return new Resampler(8_000, JUDGED_RATE_HZ).push(decodeG711('pcmu', encodeG711('pcmu', narrow)))
}

const FRAME_MS = 10
const MIN_SILENCE_MS = 100
/** Below the loudest frames by so much is silence. */
const SILENCE_SHARE = 0.03
const SILENCE_LEVEL = 70

/** Where a sound is silent for 100 ms and more, but before its first word. */
export function silencesOf(samples: Int16Array): SilenceSpan[] {
  const frame = FRAME_MS * SAMPLES_PER_MS
  const levels = Array.from({ length: Math.floor(samples.length / frame) }, (_, at) => {
    let sum = 0
    for (let i = at * frame; i < (at + 1) * frame; i++) sum += samples[i]! ** 2
    return Math.sqrt(sum / frame)
  })
  const loudest = levels.toSorted((a, b) => a - b)[Math.floor(levels.length * 0.98)] ?? 0
  const limit = Math.max(SILENCE_LEVEL, SILENCE_SHARE * loudest)
  const spans: SilenceSpan[] = []
  let sinceFrame: number | undefined
  let heard = false
  for (let at = 0; at <= levels.length; at++) {
    const isSilent = at < levels.length && levels[at]! < limit
    if (isSilent) {
      sinceFrame ??= at
      continue
    }
    if (sinceFrame !== undefined && heard && (at - sinceFrame) * FRAME_MS >= MIN_SILENCE_MS)
      spans.push({ start: (sinceFrame * FRAME_MS) / 1000, end: (at * FRAME_MS) / 1000 })
    sinceFrame = undefined
    heard = true
  }
  return spans
}

/** Words as a recogniser gives them at a pause: no comma yet, and a full stop where the sound falls, right or wrong. */
function asRecognised(words: readonly SpokenWord[], spans: readonly SilenceSpan[], random: Random): SpokenWord[] {
  return words.map((one, index) => {
    const span = spans.find(({ start, end }) => one.start < start && start <= one.end + 0.2 && one.end < end)
    const next = words[index + 1]
    const isPause = next === undefined || (span !== undefined && next.start >= span.start - 0.1)
    const end = span !== undefined && isPause ? Math.min(one.end, span.start) : one.end
    if (!isPause) return { ...one, end }
    const bare = one.word.replace(/,$/u, '')
    if (/[.?!]$/u.test(bare)) {
      return { ...one, end, word: random() < MISSING_STOPS ? bare.replace(/[.?!]+$/u, '') : bare }
    }
    return { ...one, end, word: next !== undefined && random() < FALSE_STOPS ? `${bare}.` : bare }
  })
}
