import { setImmediate } from 'node:timers/promises'
import type { llm } from '@livekit/agents'
import { boundary } from '../../lib/async/boundary.ts'
import type { Clock } from '../../lib/clock.ts'
import { type Circumstances, type Ending, isPunctuated } from './end-of-turn.ts'
import type { InboundAudio } from './inbound-audio.ts'

/**
 * A busy machine hears the caller later than they speak: the silence that ends a turn is one of their sound, too. So much less of it will
 * do: the model of voices has windows of 32 ms, the line frames of 20 ms, and a line that sends nothing is heard as silent 120 ms later.
 */
const UNHEARD_MS = { usual: 160, dictated: 64 }

/** What of the caller's words is still to come. */
interface WordsOnTheWay {
  /** Resolves when none are; undefined: none are now. */
  settled(): Promise<void> | undefined
}

/** What of the caller's sound is speech. */
interface VoicesOnTheWay {
  /** Resolves when it is known of the sound until then, a place in the run; undefined: it is known. */
  judged(untilMs: number): Promise<void> | undefined
}

export interface TurnEndOptions {
  inbound: InboundAudio
  voice: VoicesOnTheWay
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
  /** Where the caller's present or last stretch of speech began in their audio, and where and when it ended. */
  #speechStartMs = 0
  #speechEnd: { endMs: number; atMs: number } | undefined
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

  /** The caller is silent. `endMs`: where their last sound ends in their audio, `atMs`: when it arrived, in monotonic milliseconds. */
  speechEnded(endMs: number, atMs: number): void {
    this.#speechEnd = { endMs, atMs }
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
    const { inbound, voice, clock, endingOf, dictationPauseMs, silenceMs, words } = this.#options
    // Answer only after all received audio was processed.
    await inbound.caughtUp()
    const { text, ...circumstances } = lastTurn(chatCtx)
    const dictatedMs = dictationPauseMs?.(text)
    const waitMs = dictatedMs ?? silenceMs(this.#isOver ? undefined : endingOf(text, circumstances))
    const { endMs, atMs } = this.#speechEnd ?? { endMs: inbound.heardMs, atMs: clock.monotonicMs() }
    await this.#sleep(atMs + waitMs - clock.monotonicMs())
    const unheardMs = dictatedMs === undefined ? UNHEARD_MS.usual : UNHEARD_MS.dictated
    const judged = voice.judged(endMs + waitMs - unheardMs)
    if (judged !== undefined) {
      await judged
      // Speech that began meanwhile has the session drop this.
      await setImmediate()
    }
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
