import type { SessionPort } from '../../call/link/linked-conversation.ts'
import type { AskMethods } from '../../call/link/messages.ts'
import { signalWithin } from '../../lib/async/signal-within.ts'

const TOP_K = 4
/** An answer without passages beats a long silence. */
const TIMEOUT_MS = 1500
/** Lookups kept: the words so far of a turn, and the turn itself. */
const MAX_KEPT = 4

type Passages = AskMethods['knowledge']['result']['passages']

/** Passages as the language model reads them, in calls and in chats. */
export function passagesNote(passages: readonly { filename: string; text: string }[]): string {
  const listed = passages.map(({ filename, text }) => `[${filename}] ${text}`).join('\n\n')
  return `Passages from the knowledge base that may help with the caller's last words:\n\n${listed}`
}

function normalise(text: string): string {
  return text
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]+/gu, ' ')
    .trim()
}

/**
 * Passages of the agent's knowledge base. A lookup starts with the words recognised so far; when the final words are the
 * same, its result is there before the language model is asked.
 */
export class Knowledge {
  readonly #port: SessionPort
  readonly #signal: AbortSignal
  readonly #onError: (error: unknown) => void
  readonly #lookups = new Map<string, Promise<Passages>>()
  #newest: string | undefined
  #hinting: Promise<void> | undefined

  constructor(port: SessionPort, signal: AbortSignal, onError: (error: unknown) => void) {
    this.#port = port
    this.#signal = signal
    this.#onError = onError
  }

  /**
   * The words recognised so far. One lookup of such words runs at a time, then that of the newest: a caller who speaks for
   * long costs no more than one who is brief.
   */
  hint(text: string): void {
    this.#newest = text
    this.#hinting ??= this.#followHints()
  }

  async #followHints(): Promise<void> {
    for (let text = this.#newest; text !== undefined; text = this.#newest) {
      this.#newest = undefined
      await this.lookUp(text)
    }
    this.#hinting = undefined
  }

  /** Begins to look up; a lookup of the same words is made once. */
  lookUp(text: string): Promise<Passages> {
    const key = normalise(text)
    if (key === '') return Promise.resolve([])
    const known = this.#lookups.get(key)
    if (known !== undefined) return known
    const signal = signalWithin(TIMEOUT_MS, this.#signal)
    const lookup = this.#port.ask('knowledge', { query: text, topK: TOP_K }, signal).then(
      ({ passages }) => passages,
      (error: unknown) => {
        this.#lookups.delete(key)
        if (!this.#signal.aborted) this.#onError(error)
        return []
      },
    )
    this.#lookups.set(key, lookup)
    if (this.#lookups.size > MAX_KEPT) this.#lookups.delete(this.#lookups.keys().next().value!)
    return lookup
  }

  /** Passages as a message to the language model, or undefined when nothing was found. */
  async note(text: string): Promise<string | undefined> {
    const passages = await this.lookUp(text)
    if (passages.length === 0) return undefined
    return passagesNote(passages)
  }
}
