import type { Conversation, OpenConversation, SessionPort } from '../../runtime/conversation/contract.ts'
import { PatchbayError } from '../../runtime/errors.ts'
import type { OpenSession, Turn } from '../../runtime/link/messages.ts'

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

const LATENCY = { totalMs: 321, endpointingMs: 200, llmMs: 100, ttsMs: 21 }
/** What a conversation used is told as it closes. */
export const FINAL_STT_SECONDS = 0.25

class Scripted implements Conversation {
  readonly #open: OpenSession
  readonly #port: SessionPort
  readonly #openedAtMs = performance.now()
  #seq: number
  #sent = 0

  constructor(open: OpenSession, port: SessionPort) {
    this.#open = open
    this.#port = port
    this.#seq = open.history.length
    port.state('listening')
    if (open.history.length === 0) this.#say('assistant', open.agent.firstMessage)
    else this.#say('assistant', `back after ${open.history.length}: ${open.history.at(-1)?.text}`)
  }

  audio(bytes: Uint8Array): void {
    this.#port.sendAudio(bytes, this.#sent)
    this.#sent += bytes.byteLength / 2
  }

  text(text: string): void {
    switch (text) {
      case 'recite':
        this.#port.heard(this.#seq, this.#turn('assistant', 'one two'))
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
      case 'hang up':
        this.#port.ended('agent_hangup')
        break
      case 'answer and die':
        this.#say('user', text)
        this.#port.state('thinking')
        this.#port.latency(LATENCY)
        this.#port.heard(this.#seq, this.#turn('assistant', 'dying'))
        setTimeout(() => process.kill(process.pid, 'SIGKILL'), 200)
        break
      case 'die':
        process.kill(process.pid, 'SIGKILL')
        break
      default:
        this.#say('user', text)
        this.#port.state('thinking')
        this.#say('assistant', `${this.#seq}: ${text}`)
        this.#port.usage({ llmInputTokens: 10, llmOutputTokens: 2, sttSeconds: 0.5, ttsCharacters: text.length })
        this.#port.state('listening')
    }
  }

  dtmf(digit: string): void {
    this.#say('user', `key ${digit}`)
  }

  played(markId: number): void {
    this.#say('assistant', `played ${markId}`)
  }

  async close(): Promise<void> {
    this.#port.usage({ llmInputTokens: 0, llmOutputTokens: 0, sttSeconds: FINAL_STT_SECONDS, ttsCharacters: 0 })
  }

  async #ask(): Promise<void> {
    const answer = await this.#port.ask('knowledge', { query: 'q', topK: 1 }, AbortSignal.timeout(5_000)).catch(String)
    this.#say('assistant', JSON.stringify(answer))
  }

  #say(role: Turn['role'], text: string): void {
    const turn = this.#turn(role, text)
    this.#port.transcript(turn, true)
    if (role === 'assistant' && this.#seq > 0) this.#port.latency(LATENCY)
    this.#port.turn(this.#seq++, turn)
  }

  #turn(role: Turn['role'], text: string): Turn {
    const atMs = this.#open.elapsedMs + Math.round(performance.now() - this.#openedAtMs)
    return { role, text, startMs: atMs, endMs: atMs, interrupted: false }
  }
}
