import type {
  LinkedConversation,
  OpenConversation,
  SessionPort,
} from '../../../runtime/call/link/linked-conversation.ts'
import type { OpenSession } from '../../../runtime/call/link/messages.ts'
import type { CallEvent } from '../../../runtime/call/log/events.ts'
import { PatchbayError } from '../../../runtime/lib/errors.ts'

/**
 * A conversation without speech or language: it sends the caller's audio back and does what a typed turn says, so that a
 * test of the link, the sessions or a leg sees exactly what went through.
 *
 *     recite    begins a turn that never ends, of which "one two" was heard
 *     mark      sends mark 7; when it was played, says so
 *     clear     drops the caller's buffer
 *     ask       asks for knowledge and says what came
 *     flood     sends ten seconds of audio at once
 *     throw     fails
 *     deaf      from now on takes nothing the caller types or says
 *     tool      calls a tool and says what came of it
 *     garble    tells a turn that began at no time
 *     hang up   ends the call
 *     die       kills the process
 *     answer and die   begins an answer, of which "dying" was heard, and kills the process soon after
 *     other     answers with the number of turns so far and the text
 */
export const scriptedConversation: OpenConversation = async (open, port) => {
  if (open.agent.systemPrompt === 'refuse') {
    throw new PatchbayError('plugin', { params: { reason: 'Provider "nobody" is not installed' } })
  }
  return new Scripted(open, port)
}

/** Typed words that are no turn. */
const CONTROLS = new Set([
  'recite',
  'mark',
  'clear',
  'ask',
  'flood',
  'throw',
  'hang up',
  'die',
  'deaf',
  'tool',
  'garble',
])

const LATENCY = {
  type: 'latency',
  total_ms: 321,
  endpointing_ms: 200,
  stt_ms: 0,
  llm_ms: 100,
  tts_ms: 21,
} as const
/** What a conversation used is told as it closes. */
export const FINAL_STT_SECONDS = 0.25

class Scripted implements LinkedConversation {
  readonly #open: OpenSession
  readonly #port: SessionPort
  readonly #openedAtMs = performance.now()
  /** Turns so far. */
  #turns: number
  #sent = 0
  #deaf = false

  constructor(open: OpenSession, port: SessionPort) {
    this.#open = open
    this.#port = port
    const turns = open.resume?.turns ?? []
    this.#turns = turns.length
    port.state('listening')
    if (turns.length === 0) this.#answer(open.agent.firstMessage)
    const running = open.resume?.tools.find(({ turn }) => turn === turns.length)
    if (running !== undefined) void this.#callTool(running.id)
    else if (open.announcement === true) setTimeout(() => port.ended('agent_hangup'))
    else if (turns.length > 0) this.#answer(`back after ${turns.length}: ${turns.at(-1)?.text}`)
  }

  audio(bytes: Uint8Array): void {
    if (this.#deaf) return
    this.#port.sendAudio(bytes, this.#sent)
    // Whatever encoding it is in: stamps are whole numbers.
    this.#sent += Math.ceil(bytes.byteLength / 2)
  }

  input(event: CallEvent): void {
    if (this.#deaf) return
    if (event.type === 'typed') this.#typed(event.text, event.seq)
    else if (event.type === 'key') this.#caller(`key ${event.digit}`, event.seq)
  }

  #typed(text: string, seq: number): void {
    if (CONTROLS.has(text)) this.#port.tell({ type: 'inputs_taken', inputs: [seq] })
    switch (text) {
      case 'recite':
        this.#port.tell({ type: 'heard', text: 'one two', ...this.#now(), interrupted: false, final: false })
        break
      case 'mark':
        this.#port.mark(7)
        break
      case 'clear':
        this.#port.clear()
        break
      case 'ask':
        void this.#ask()
        break
      case 'flood':
        for (let i = 0; i < 500; i++) this.#port.sendAudio(new Uint8Array(960).fill(1), i * 480)
        break
      case 'throw':
        throw new Error('as told')
      case 'deaf':
        this.#deaf = true
        break
      case 'tool':
        void this.#callTool('tool-1')
        break
      case 'garble':
        this.#port.tell({ type: 'turn', text, start_ms: Number.NaN, end_ms: 0 })
        break
      case 'hang up':
        this.#port.ended('agent_hangup')
        break
      case 'answer and die':
        this.#caller(text, seq)
        this.#port.state('thinking')
        this.#port.owes({ input_tokens: 10, output_tokens: 2, characters: 'dying'.length })
        this.#port.tell(LATENCY)
        this.#port.tell({ type: 'heard', text: 'dying', ...this.#now(), interrupted: false, final: false })
        setTimeout(() => process.kill(process.pid, 'SIGKILL'), 200)
        break
      case 'die':
        process.kill(process.pid, 'SIGKILL')
        break
      default:
        this.#caller(text, seq)
        this.#port.state('thinking')
        this.#answer(`${this.#turns}: ${text}`)
        this.#port.tell({ type: 'usage', stage: 'llm', input_tokens: 10, output_tokens: 2 })
        this.#port.tell({ type: 'usage', stage: 'stt', seconds: 0.5 })
        this.#port.tell({ type: 'usage', stage: 'tts', characters: text.length })
        this.#port.state('listening')
    }
  }

  played(markId: number): void {
    this.#answer(`played ${markId}`)
  }

  async close(): Promise<void> {
    this.#port.tell({ type: 'usage', stage: 'stt', seconds: FINAL_STT_SECONDS })
  }

  async #callTool(id: string): Promise<void> {
    const params = { id, name: 'book', arguments: { day: 'Monday' } }
    const { output } = await this.#port
      .ask('tool', params, AbortSignal.timeout(30_000))
      .catch((err) => ({ output: `${err}` }))
    this.#answer(output)
  }

  async #ask(): Promise<void> {
    const answer = await this.#port.ask('knowledge', { query: 'q', topK: 1 }, AbortSignal.timeout(30_000)).catch(String)
    this.#answer(JSON.stringify(answer))
  }

  #caller(text: string, input: number): void {
    this.#port.tell({ type: 'words', text, ...this.#now(), final: true })
    this.#port.tell({ type: 'turn', text, ...this.#now(), inputs: [input] })
    this.#turns++
  }

  #answer(text: string): void {
    if (this.#turns > 0) this.#port.tell(LATENCY)
    this.#port.tell({ type: 'heard', text, ...this.#now(), interrupted: false, final: true })
    this.#turns++
  }

  #now(): { start_ms: number; end_ms: number } {
    const atMs = this.#open.elapsedMs + Math.round(performance.now() - this.#openedAtMs)
    return { start_ms: atMs, end_ms: atMs }
  }
}
