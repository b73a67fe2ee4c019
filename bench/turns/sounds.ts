import { Resampler } from '../../runtime/media/dsp/resample.ts'
import { joinSamples } from '../../runtime/media/frame.ts'
import { seeded } from '../../test/support/phone/numbers.ts'
import { JUDGED_RATE_HZ } from './rows.ts'
import { cut, fetchRecordings, PROMPTS, synthesised } from './sources.ts'

/** What the caller's line carries while the agent speaks. */
export interface LineSound {
  readonly kind: string
  readonly language: string
  /** The caller wants the floor. */
  readonly isInterruption: boolean
  /** What a recogniser makes of it; undefined: nothing. */
  readonly text: string | undefined
  /** At 16 kHz, as loud as it is on the line. */
  readonly samples: Int16Array
}

const SAMPLES_PER_MS = JUDGED_RATE_HZ / 1000
/** Mean level of a caller's speech. */
export const CALLER_LEVEL = 1_800

const INTERRUPTIONS: Readonly<Record<string, readonly string[]>> = {
  en: [
    'Stop.',
    'Wait a moment.',
    "No, that's wrong.",
    'Excuse me, I have a question.',
    'Can I speak to a person?',
    'I know that already.',
    'How much is it?',
    'Tomorrow is better.',
    'Sorry, which day?',
    'Forget it.',
  ],
  de: [
    'Stopp.',
    'Warten Sie mal.',
    'Nein, das ist falsch.',
    'Entschuldigung, eine Frage.',
    'Kann ich mit einem Menschen sprechen?',
    'Das weiß ich schon.',
    'Was kostet das?',
    'Morgen passt besser.',
    'Welcher Tag denn?',
    'Vergessen Sie es.',
  ],
  es: [
    'Pare.',
    'Espere un momento.',
    'No, eso está mal.',
    'Perdone, una pregunta.',
    '¿Puedo hablar con una persona?',
    'Eso ya lo sé.',
    '¿Cuánto cuesta?',
    'Mejor mañana.',
    '¿Qué día?',
    'Olvídelo.',
  ],
  fr: [
    'Stop.',
    'Attendez un instant.',
    "Non, c'est faux.",
    "Pardon, j'ai une question.",
    'Je peux parler à quelqu’un ?',
    'Je le sais déjà.',
    'Ça coûte combien ?',
    'Plutôt demain.',
    'Quel jour ?',
    'Laissez tomber.',
  ],
  it: [
    'Basta.',
    'Aspetti un momento.',
    'No, è sbagliato.',
    'Scusi, una domanda.',
    'Posso parlare con una persona?',
    'Questo lo so già.',
    'Quanto costa?',
    'Meglio domani.',
    'Che giorno?',
    'Lasci perdere.',
  ],
  pt: [
    'Pare.',
    'Espera um momento.',
    'Não, está errado.',
    'Desculpa, uma pergunta.',
    'Posso falar com uma pessoa?',
    'Isso eu já sei.',
    'Quanto custa?',
    'Melhor amanhã.',
    'Que dia?',
    'Esquece.',
  ],
}
const BACKCHANNELS: Readonly<Record<string, readonly string[]>> = {
  en: ['Yeah.', 'Okay.', 'Right.', 'I see.', 'Uh-huh.', 'Sure.'],
  de: ['Ja.', 'Okay.', 'Genau.', 'Verstehe.', 'Aha.', 'Gut.'],
  es: ['Sí.', 'Vale.', 'Claro.', 'Entiendo.', 'Ajá.', 'Bueno.'],
  fr: ['Oui.', "D'accord.", 'Je vois.', 'Ah bon.', 'Très bien.', 'OK.'],
  it: ['Sì.', 'Va bene.', 'Certo.', 'Capisco.', 'Ecco.', 'Ok.'],
  pt: ['Sim.', 'Tá bom.', 'Certo.', 'Entendi.', 'Aham.', 'Ok.'],
}
/** Prompts that somebody might cut in with, by a human voice. */
const SAID_PROMPTS: Readonly<Record<string, string>> = {
  'please-try-again': 'Please try again.',
  'vm-pls-try-again': 'Please try that again.',
  'vm-goodbye': 'Goodbye.',
  'vm-sorry': 'Sorry, that does not work.',
  'pbx-transfer': 'Transfer me.',
}
const READINGS: readonly (readonly [name: string, fromMs: number, toMs: number])[] = [
  ['endgame_nagg_nell', 0, 1_500],
  ['endgame_nagg_nell', 4_850, 7_000],
  ['endgame_nagg_nell', 12_000, 13_500],
  ['endgame_nagg_nell', 17_600, 19_300],
  ['endgame_nagg_nell', 23_700, 26_000],
  ['two_cities', 800, 3_000],
  ['two_cities', 6_000, 8_500],
  ['two_cities', 12_000, 14_500],
  ['two_cities', 20_000, 22_500],
  ['two_cities', 30_000, 32_500],
  ['beckett', 0, 2_700],
  ['beckett', 4_900, 7_400],
]

/** 236 sounds over the agent's speech, the same each time. */
export async function lineSounds(): Promise<LineSound[]> {
  const recordings = await fetchRecordings()
  const random = seeded(42)
  const sounds: LineSound[] = []
  const add = (kind: string, samples: Int16Array, of: Partial<LineSound> = {}, level = CALLER_LEVEL) =>
    sounds.push({
      kind,
      language: 'en',
      isInterruption: false,
      text: undefined,
      ...of,
      samples: atLevel(samples, level),
    })
  for (const [language, texts] of Object.entries(INTERRUPTIONS))
    for (const [index, text] of texts.entries())
      add('words', await synthesised(language, text, index), { language, isInterruption: true, text })
  for (const language of Object.keys(PROMPTS))
    for (const [name, text] of Object.entries(SAID_PROMPTS))
      add('human words', cut(await recordings.prompt(language, name)), { language: 'en', isInterruption: true, text })
  for (const [language, texts] of Object.entries(BACKCHANNELS))
    for (const [index, text] of texts.entries())
      add('backchannel', await synthesised(language, text, index), { language, text })
  const readings: Int16Array[] = []
  for (const [name, fromMs, toMs] of READINGS)
    readings.push((await recordings.reading(name)).slice(fromMs * SAMPLES_PER_MS, toMs * SAMPLES_PER_MS))
  for (const [index, reading] of readings.entries()) {
    add('human words', cut(reading), { isInterruption: true, text: 'something else' })
    add('side talk', lowPassed(reading, 1_500), {}, CALLER_LEVEL * 10 ** (-(18 + (index % 4) * 3) / 20))
    add(
      'television',
      mixed(reading, readings[(index + 5) % readings.length]!),
      {},
      CALLER_LEVEL * 10 ** (-(16 + (index % 4) * 3) / 20),
    )
  }
  for (let i = 0; i < 16; i++) {
    add('hum', hum(100 + 9 * i, i % 2 === 0 ? 2 : 1, random), { text: 'mm hmm' }, CALLER_LEVEL * 0.6)
    add('cough', burst(180 + 20 * i, 1 + (i % 3), 4, random))
    add('breath', burst(300 + 30 * i, 1, 0.5, random), {}, CALLER_LEVEL * 0.15)
  }
  for (let i = 0; i < 12; i++) {
    add('keyboard', keyboard(6 + i, random), {}, CALLER_LEVEL * 0.4)
    add('laughter', await synthesised(Object.keys(INTERRUPTIONS)[i % 6]!, i % 2 === 0 ? 'ha ha ha' : 'hahahaha', i))
    add('hiss', burst(400 + 60 * i, 1, 0, random), {}, CALLER_LEVEL * 0.5)
  }
  return sounds
}

function atLevel(samples: Int16Array, level: number): Int16Array {
  let [sum, loud] = [0, 0]
  for (const sample of samples) {
    if (Math.abs(sample) < 100) continue
    sum += Math.abs(sample)
    loud++
  }
  const factor = loud === 0 ? 1 : level / (sum / loud)
  return samples.map((sample) => Math.max(-32_768, Math.min(32_767, Math.round(sample * factor))))
}

/** A voice through a wall. */
function lowPassed(samples: Int16Array, hz: number): Int16Array {
  const narrow = new Resampler(JUDGED_RATE_HZ, 2 * hz + 1_000).push(samples)
  return new Resampler(2 * hz + 1_000, JUDGED_RATE_HZ).push(narrow)
}

function mixed(a: Int16Array, b: Int16Array): Int16Array {
  return a.map((sample, i) => (sample + (b[i] ?? 0)) / 2)
}

/** "mm-hm": a voice through the nose, its pitch rising. */
function hum(pitchHz: number, parts: number, random: () => number): Int16Array {
  const part = (lengthMs: number, rise: number) => {
    const length = lengthMs * SAMPLES_PER_MS
    let phase = 0
    return Int16Array.from({ length }, (_, i) => {
      phase += (2 * Math.PI * pitchHz * (1 + (rise * i) / length)) / JUDGED_RATE_HZ
      const voice = Math.sin(phase) + 0.5 * Math.sin(2 * phase) + 0.12 * Math.sin(3 * phase) + 0.04 * (random() - 0.5)
      return Math.round(6_000 * voice * Math.sin((Math.PI * i) / length) ** 0.5)
    })
  }
  const first = part(160 + 60 * random(), 0.05)
  if (parts === 1) return joinSamples([first, part(150, -0.1)])
  return joinSamples([first, new Int16Array(60 * SAMPLES_PER_MS), part(200 + 80 * random(), 0.25)])
}

/** Sound without pitch, one burst or several. @param decay of each: 0 stays as loud */
function burst(lengthMs: number, bursts: number, decay: number, random: () => number): Int16Array {
  const length = lengthMs * SAMPLES_PER_MS
  const one = () =>
    Int16Array.from({ length }, (_, i) => {
      const rise = Math.min(1, i / (8 * SAMPLES_PER_MS))
      return Math.round((random() * 2 - 1) * 12_000 * rise * Math.exp((-decay * i) / length))
    })
  const pieces = Array.from({ length: bursts }, () => [one(), new Int16Array(120 * SAMPLES_PER_MS)])
  return joinSamples(pieces.flat())
}

function keyboard(keys: number, random: () => number): Int16Array {
  const pieces = Array.from({ length: keys }, () => [
    burst(12, 1, 6, random).subarray(0, 12 * SAMPLES_PER_MS),
    new Int16Array(Math.round((60 + 120 * random()) * SAMPLES_PER_MS)),
  ])
  return joinSamples(pieces.flat())
}
