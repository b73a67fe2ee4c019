import localInference from '@livekit/local-inference'
import { type Ending, endingOf, probabilityOver, silenceOf } from '../../runtime/conversation/hearing/end-of-turn.ts'
import { languageOf } from '../../runtime/conversation/languages/index.ts'
import { JUDGED_RATE_HZ, type Pause, saidBefore, wordsBy } from './rows.ts'

/** When a decider is asked, as eot-bench asks: every 100 ms of a silence. */
const GRID_S = Array.from({ length: 35 }, (_, i) => (i + 1) / 10)
/** What LiveKit's v1-mini looks at, the last 1.2 s, and when it listens: at the third window of silence. */
const MODEL_SAMPLES = 19_200
const MODEL_AT_S = 0.096
export const MODES = ['eager', 'balanced', 'patient'] as const

/** What a decider thought of one pause. */
export interface Verdict {
  readonly scores: readonly (readonly [silenceS: number, probability: number])[]
  /** The silence that ends the turn, as shipped, in each mode: seconds. */
  readonly endsS?: Readonly<Record<(typeof MODES)[number], number>>
  readonly ending?: Ending
}

/** What is known of a pause but its sound. */
export interface Heard {
  /** The opinion of LiveKit's v1-mini. */
  readonly model: number
  /** How late words come. */
  readonly wordsLateS: number
  /** The recogniser sets full stops. */
  readonly punctuates: boolean
}

export type Decider = (pause: Pause, heard: Heard) => Verdict

export const DECIDERS: Readonly<Record<string, Decider>> = {
  silence: () => ({ scores: [] }),
  'v1-mini': (_pause, { model }) => ({ scores: [[GRID_S[0]!, model]] }),
  'ours, by words': (pause, { wordsLateS, punctuates }) => {
    const language = languageOf(pause.turn.language)
    const circumstances = { asked: saidBefore(pause.turn), punctuates }
    const ending = (silenceS: number) => {
      const words = wordsBy(pause.turn, pause.startS + silenceS, wordsLateS)
      return endingOf(punctuates ? words : words.replace(/[.?!,]/gu, ''), circumstances, language)
    }
    const last = ending(wordsLateS)
    const scores = GRID_S.map((silenceS) => {
      const known = silenceS < wordsLateS ? ending(silenceS) : last
      return [silenceS, probabilityOver(known, silenceS * 1000)] as const
    })
    const endS = (mode: (typeof MODES)[number]) => Math.max(wordsLateS, silenceOf(last, mode) / 1000)
    return {
      scores,
      ending: last,
      endsS: { eager: endS('eager'), balanced: endS('balanced'), patient: endS('patient') },
    }
  },
}

/** The model's opinion of a pause, from the sound until then. */
export function opinionOf(sound: Int16Array, { startS }: Pause): Promise<number> {
  const until = Math.round((startS + MODEL_AT_S) * JUDGED_RATE_HZ)
  const recent = new Int16Array(MODEL_SAMPLES)
  const heard = sound.subarray(Math.max(0, until - MODEL_SAMPLES), until)
  recent.set(heard, MODEL_SAMPLES - heard.length)
  return localInference.predict(recent)
}

/** Loads the model. */
export function readyModel(): void {
  localInference.initEot()
}
