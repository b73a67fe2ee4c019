/** What a simulated callee does. The number dialled decides, so that a test or a reader knows beforehand. */
export interface Behaviour {
  /** What becomes of the call. */
  answer: 'human' | 'voicemail' | 'busy' | 'no_answer' | 'rejected' | 'blocked' | 'invalid_number' | 'carrier'
  ringMs: number
  /** `talks` asks its questions and says goodbye; `leaves` hangs up in the middle of the agent's first sentence. */
  manner: 'talks' | 'silent' | 'leaves' | 'listens'
  /** One who listens hangs up after this. */
  talkMs?: number
}

type Outcome = Exclude<Behaviour['answer'], 'human'> | Exclude<Behaviour['manner'], 'listens'>

/** People as a campaign meets them, each call drawn anew; whether a number is in service is the number's own. */
interface Population {
  /** Of the calls to numbers in service that are not busy. */
  answer_rate: number
  /** Of those who answer; the others are machines. */
  human: number
  busy: number
  invalid: number
  /** The shortest and the longest a human listens. */
  talk_seconds: readonly [number, number]
}

const RING_MS = 1_500

/** Last four digits of the number → what the callee does. docs/batches.md has the same table, and a test compares the two. */
export const SUFFIXES: Readonly<Record<string, Outcome>> = {
  '9901': 'busy',
  '9902': 'no_answer',
  '9903': 'voicemail',
  '9904': 'leaves',
  '9905': 'rejected',
  '9906': 'invalid_number',
  '9907': 'carrier',
  '9908': 'silent',
  '9909': 'blocked',
}

export interface CalleeSettings {
  /** Shares of the outcomes of numbers the table doesn't name; what is left of 1 talks. */
  mix: Readonly<Partial<Record<Outcome, number>>>
  /** The same seed and number give the same callee. */
  seed: number
  /** Ringing takes this many times as long; 0: none. */
  timeScale: number
  /** In the place of `mix`. */
  population?: Population
}

/** @param attempt how often the number was called, this time included */
export function behaviourOf(number: string, settings: CalleeSettings, attempt = 1): Behaviour {
  const { timeScale, population } = settings
  if (population !== undefined && SUFFIXES[number.slice(-4)] === undefined) {
    return ofPopulation(number, attempt, population, settings)
  }
  const random = randomOf(`${settings.seed}:${number}`)
  const outcome = SUFFIXES[number.slice(-4)] ?? drawn(settings.mix, random())
  const ringMs = RING_MS * timeScale * (0.5 + random())
  if (outcome === 'talks' || outcome === 'silent' || outcome === 'leaves') {
    return { answer: 'human', manner: outcome, ringMs }
  }
  return { answer: outcome, manner: 'talks', ringMs }
}

function ofPopulation(
  number: string,
  attempt: number,
  population: Population,
  { seed, timeScale }: CalleeSettings,
): Behaviour {
  const inService = randomOf(`${seed}:${number}`)() >= population.invalid
  const random = randomOf(`${seed}:${number}:${attempt}`)
  const ringMs = RING_MS * timeScale * (0.5 + random())
  const of = (answer: Behaviour['answer']): Behaviour => ({ answer, manner: 'talks', ringMs })
  if (!inService) return of('invalid_number')
  if (random() < population.busy) return of('busy')
  if (random() >= population.answer_rate) return of('no_answer')
  if (random() >= population.human) return of('voicemail')
  const [least, most] = population.talk_seconds
  return { answer: 'human', manner: 'listens', ringMs, talkMs: (least + (most - least) * random()) * 1_000 * timeScale }
}

function drawn(mix: CalleeSettings['mix'], share: number): Outcome {
  let sum = 0
  for (const [outcome, part] of Object.entries(mix) as [Outcome, number][]) {
    sum += part
    if (share < sum) return outcome
  }
  return 'talks'
}

/** Numbers in [0, 1) that follow from the text alone (FNV-1a, then mulberry32). */
function randomOf(text: string): () => number {
  let state = 0x811c9dc5
  for (let i = 0; i < text.length; i++) state = Math.imul(state ^ text.charCodeAt(i), 0x01000193)
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}
