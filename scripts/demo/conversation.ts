import { setTimeout as sleep } from 'node:timers/promises'
import type { ServerMessage } from '../../api/realtime/messages.ts'
import { words } from '../../plugins/offline/words.ts'
import type { Caller } from './caller.ts'
import type { Question } from './script.ts'

/** One question and what became of it. */
export interface Exchange {
  question: string
  /** What the agent understood. */
  heard: string
  /** From the caller's last audible sample sent to the agent's first one received. */
  latencyMs: number
  /** From the caller's first audible sample to the agent's last one, when the caller barged in. */
  cutMs?: number
}

export type Say = (line: string) => void

/** Longest wait for anything: an answer takes a second, a busy machine and a dead voice worker some more. */
const PATIENCE_MS = 45_000
/** The agent is let speak this long before it is cut off: its answers take longer. */
const LISTEN_BEFORE_BARGE_IN_MS = 2_500
const POLL_MS = 20

/** A conversation as the caller follows it: who speaks, and what was understood. */
export class Conversation {
  readonly #caller: Caller
  readonly #signal: AbortSignal
  readonly #startedMs = performance.now()
  readonly #heard: string[] = []
  readonly #say: Say
  #state = 'listening'
  #agentStartedMs = 0
  #agentStoppedMs = 0
  /** What the agent said since the caller last did, the running turn included: first a filler perhaps, then the answer. */
  #answer = ''
  #answerBefore = ''
  /** Words of the answer to the question before. */
  #expected = ''

  constructor(caller: Caller, say: Say, signal: AbortSignal) {
    this.#caller = caller
    this.#signal = signal
    this.#say = say
    caller.on('message', (message) => this.#follow(message))
    caller.on('agentStarts', (atMs) => {
      this.#agentStartedMs = atMs
    })
    caller.on('agentStops', (atMs) => {
      this.#agentStoppedMs = atMs
    })
  }

  /** Waits until the agent has spoken and is silent again. */
  async greeting(): Promise<void> {
    await this.#until(() => this.#agentStartedMs > 0, 'The agent did not greet')
    await this.agentDone()
  }

  /** Asks, and listens until the agent begins to answer. */
  async ask({ text, expects, bargesIn, voice }: Question): Promise<Exchange> {
    // Rendered before its moment comes: an answer that is to be interrupted doesn't wait.
    const sentence = await this.#caller.prepare(text, voice)
    const heardBefore = this.#heard.length
    const clearsBefore = this.#caller.clears
    if (bargesIn) await this.#agentTalks(LISTEN_BEFORE_BARGE_IN_MS)
    else await this.#agentAnswered()
    this.#expected = expects
    const beganMs = performance.now()
    const endedMs = await this.#caller.say(sentence, this.#signal)
    let cutMs: number | undefined
    if (bargesIn) {
      await this.#until(() => this.#caller.clears > clearsBefore, 'The agent was not cut off')
      await this.#until(() => this.#agentStoppedMs > beganMs || this.#agentStartedMs > endedMs, 'The agent spoke on')
      cutMs = this.#agentStoppedMs - beganMs
    }
    const isHeard = (): boolean => this.#heard.length > heardBefore
    await this.#until(isHeard, `"${text}" was not heard`)
    await this.#until(() => this.#agentStartedMs > endedMs, `"${text}" was not answered`)
    const latencyMs = this.#agentStartedMs - endedMs
    const cut = cutMs === undefined ? '' : `; the agent fell silent ${cutMs.toFixed(0)} ms after the caller began`
    this.#say(`          answered after ${latencyMs.toFixed(0)} ms${cut}`)
    const heard = this.#heard.slice(heardBefore).join(' ')
    return { question: text, heard, latencyMs, ...(cutMs !== undefined && { cutMs }) }
  }

  /** Waits until the agent has finished what it says. */
  async agentDone(): Promise<void> {
    await this.#until(() => this.#state === 'listening' && !this.#caller.agentSpeaking, 'The agent did not finish')
  }

  /** Between a filler and the answer the agent is silent, too. */
  async #agentAnswered(): Promise<void> {
    await this.#until(() => this.#answers(), `The agent did not say "${this.#expected}"`)
    await this.agentDone()
  }

  async #agentTalks(forMs: number): Promise<void> {
    const lasts = () => this.#caller.agentSpeaking && performance.now() - this.#agentStartedMs >= forMs
    await this.#until(() => lasts() && this.#answers(), 'The agent did not speak long enough to be interrupted')
  }

  /** Whether what the agent says or said holds the answer to the question before. */
  #answers(): boolean {
    return words(`${this.#answerBefore} ${this.#answer}`).join(' ').includes(words(this.#expected).join(' '))
  }

  #follow(message: ServerMessage): void {
    if (message.type === 'agent.state') this.#state = message.state
    if (message.type === 'error') this.#say(`          error: ${message.message}`)
    if (message.type !== 'transcript') return
    if (message.role === 'assistant') this.#answer = message.text
    if (!message.final) return
    if (message.role === 'assistant') this.#answerBefore = `${this.#answerBefore} ${this.#answer}`
    else this.#answerBefore = ''
    this.#answer = ''
    if (message.role === 'user') this.#heard.push(message.text)
    const seconds = ((performance.now() - this.#startedMs) / 1000).toFixed(1).padStart(6)
    this.#say(`${seconds} s  ${message.role === 'user' ? 'caller' : 'agent '}  ${message.text}`)
  }

  async #until(condition: () => boolean, otherwise: string): Promise<void> {
    const deadlineMs = performance.now() + PATIENCE_MS
    while (!condition()) {
      this.#signal.throwIfAborted()
      if (this.#caller.endReason !== undefined)
        throw new Error(`${otherwise}: the session ended (${this.#caller.endReason})`)
      if (performance.now() > deadlineMs) throw new Error(`${otherwise} within ${PATIENCE_MS / 1000} s`)
      await sleep(POLL_MS)
    }
  }
}
