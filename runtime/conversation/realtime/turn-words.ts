import type { llm } from '@livekit/agents'
import type { SoundSpan } from '../../call/link/messages.ts'
import { turnOf } from '../../call/log/call-change.ts'
import type { CallEventBody, EventOf } from '../../call/log/events.ts'
import type { TranscribedMessage } from './ledger.ts'

/** Turns whose words may still come: a model has them within seconds. */
const MAX_TURNS = 16

interface CallerTurn {
  readonly event: EventOf<'turn'>
  readonly place: number
  readonly sound: SoundSpan | undefined
}

interface Correction {
  readonly event: EventOf<'transcribed'>
  readonly sound: SoundSpan | undefined
}

/**
 * The words of a speech-to-speech model for what the caller said, in their places: a turn is told in order with the recogniser's words,
 * and corrected once the model's are there. Where they never come, the recogniser's stay. Pure.
 */
export class TurnWords {
  #turns: number
  readonly #open: CallerTurn[] = []
  readonly #turnOf = new WeakMap<llm.ChatMessage, CallerTurn>()
  /** The recogniser's words. */
  readonly #saidIn = new WeakMap<llm.ChatMessage, string>()
  /** Of turns that are not told yet. */
  #early: TranscribedMessage[] = []

  /** @param turns said in the call before */
  constructor(turns: number) {
    this.#turns = turns
  }

  /** This was told. @returns what is to be told behind it */
  told(event: CallEventBody, sound?: SoundSpan): Correction[] {
    if (turnOf(event) === undefined) return []
    const place = this.#turns++
    // What was typed or pressed is in no sound.
    if (event.type !== 'turn' || event.inputs !== undefined) return []
    this.#open.push({ event, place, sound })
    this.#open.splice(0, this.#open.length - MAX_TURNS)
    const early = this.#early
    this.#early = []
    return early.flatMap((one) => this.#correct(one))
  }

  /** The conversation remembers these words for a message of the caller's. @returns what is to be told */
  transcribed({ message, words }: TranscribedMessage): Correction[] {
    if (!this.#saidIn.has(message)) this.#saidIn.set(message, (message.textContent ?? '').trim())
    message.content = [words]
    return this.#correct({ message, words })
  }

  #correct({ message, words }: TranscribedMessage): Correction[] {
    const turn = this.#turnOf.get(message) ?? this.#take(message)
    if (turn === undefined) {
      this.#early = [...this.#early.filter((one) => one.message !== message), { message, words }].slice(-MAX_TURNS)
      return []
    }
    const { event, place, sound } = turn
    const { start_ms, end_ms } = event
    return [{ event: { type: 'transcribed', turn: place, text: words, start_ms, end_ms }, sound }]
  }

  /** The last turn of its text that is no other message's: an earlier one may have been answered without the model. */
  #take(message: llm.ChatMessage): CallerTurn | undefined {
    const at = this.#open.findLastIndex(({ event }) => event.text.trim() === this.#saidIn.get(message))
    const [turn] = at === -1 ? [] : this.#open.splice(at, 1)
    if (turn !== undefined) this.#turnOf.set(message, turn)
    return turn
  }
}
