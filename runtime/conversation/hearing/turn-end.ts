import type { llm } from '@livekit/agents'
import { boundary } from '../../lib/async/boundary.ts'
import type { Clock } from '../../lib/clock.ts'
import { type Circumstances, type Ending, isPunctuated } from './end-of-turn.ts'
import type { InboundAudio } from './inbound-audio.ts'

/** What of the caller's words is still to come. */
interface WordsOnTheWay {
  /** Resolves when none are; undefined: none are now. */
  settled(): Promise<void> | undefined
}

export interface TurnEndOptions {
  inbound: InboundAudio
  clock: Clock
  /** How the words end. */
  endingOf(words: string, circumstances: Circumstances): Ending
  /** The silence that a caller is waited for who dictates something, in milliseconds; undefined: they don't. */
  dictationPauseMs?(words: string): number | undefined
  /** The silence that ends a turn then; undefined: its recogniser said that it is over. Milliseconds. */
  silenceMs(ending: Ending | undefined): number
  words: WordsOnTheWay
}

/** Waits for the end of the caller's turn: a silence that is as long as their words, and what they were asked, have it be. */
export class TurnEnd {
  readonly model = 'words'
  readonly provider = 'patchbay'
  readonly #options: TurnEndOptions
  readonly #timers = new Set<NodeJS.Timeout>()
  /** Where the caller's present or last stretch of speech began in their audio, and when its last sound arrived. */
  #speechStartMs = 0
  #speechEndAtMs: number | undefined
  /** The recogniser said that the turn is over. */
  #isOver = false

  constructor(options: TurnEndOptions) {
    this.#options = options
  }

  /** The caller speaks (again). */
  speechStarted(startMs: number): void {
    this.#speechStartMs = startMs
    this.#isOver = false
  }

  /** The caller is silent. `endAtMs`: when the last sound arrived, in monotonic milliseconds. */
  speechEnded(endAtMs: number): void {
    this.#speechEndAtMs = endAtMs
  }

  /** The recogniser says that the turn is over whose last words are of the sound up to `endMs`. */
  turnEnded(endMs: number): void {
    this.#isOver = endMs > this.#speechStartMs
  }

  async supportsLanguage(): Promise<boolean> {
    return true
  }

  /** The delay is kept here; the session's own two-step delay is never taken. */
  async unlikelyThreshold(): Promise<number> {
    return 0
  }

  /** Resolves with 1 once the silence has lasted as long as it must; new speech makes the session drop the answer. */
  async predictEndOfTurn(chatCtx: llm.ChatContext): Promise<number> {
    const { inbound, clock, endingOf, dictationPauseMs, silenceMs, words } = this.#options
    // Answer only after all received audio was processed.
    await inbound.caughtUp()
    const { text, ...circumstances } = lastTurn(chatCtx)
    const waitMs = dictationPauseMs?.(text) ?? silenceMs(this.#isOver ? undefined : endingOf(text, circumstances))
    await this.#sleep((this.#speechEndAtMs ?? clock.monotonicMs()) + waitMs - clock.monotonicMs())
    // On the words that are known a turn ends only when none of later speech are on their way.
    for (let owed = words.settled(); owed !== undefined; owed = words.settled()) await owed
    return 1
  }

  close(): void {
    for (const timer of this.#timers) clearTimeout(timer)
    this.#timers.clear()
  }

  #sleep(delayMs: number): Promise<void> {
    if (delayMs <= 0) return Promise.resolve()
    return new Promise((resolve) => {
      const timer = setTimeout(
        boundary('call', () => {
          this.#timers.delete(timer)
          resolve()
        }),
        delayMs,
      )
      this.#timers.add(timer)
    })
  }
}

/** What the caller is saying, and what is known beside it. */
function lastTurn({ items }: llm.ChatContext): Circumstances & { text: string } {
  const said = (role: 'user' | 'assistant') =>
    items.flatMap((item) => (item.type === 'message' && item.role === role ? [item.textContent ?? ''] : []))
  const last = items.at(-1)
  const text = last?.type === 'message' && last.role === 'user' ? (last.textContent ?? '') : ''
  return { text, asked: said('assistant').at(-1) ?? '', punctuates: said('user').some(isPunctuated) }
}
