import { setTimeout as sleep } from 'node:timers/promises'
import { answer } from '../../../../../plugins/offline/answer.ts'
import type { Channel } from '../server.ts'
import { bytesOf, type Listener, type SpeechWorld, samplesOf } from '../speech/speech.ts'
import {
  type ClientMessage,
  type Closing,
  type Declaration,
  faultOfMessage,
  faultOfSetup,
  IN_RATE_HZ,
  OUT_RATE_HZ,
  type Setup,
  type Turn,
} from './google-live-rules.ts'

/**
 * A session of Gemini's Live API: npm @google/genai 3.3.0 (2026-11-12). Its messages are JSON in binary frames; what it does not take
 * ends the connection (1007, 1008), with the words its users report (github.com/googleapis/js-genai/issues/1236). Sound outside of an
 * activity is passed over; a turn is complete once its sound could have been played.
 */
export interface LiveOptions {
  speech: SpeechWorld
  /** How long a connection lasts; Google's ten minutes by default. Its end is announced in the last tenth. */
  sessionMs?: number | undefined
  /** What it was told, and what it refused of that. */
  told?: ((message: Readonly<Record<string, unknown>>) => void) | undefined
  refused?: ((code: number, reason: string) => void) | undefined
  /** A session began, which holds this. */
  began?: ((held: () => readonly Said[]) => void) | undefined
}

const TEN_MINUTES_MS = 600_000
/** Of a transcription. */
const BETWEEN_PIECES_MS = 5

export interface Said {
  role: 'user' | 'assistant'
  text: string
}

const textOf = ({ parts = [] }: Turn): string => parts.map(({ text = '' }) => text).join(' ')

/** Serves one session over a channel. */
export function googleLive(channel: Channel, isKeyRight: boolean, options: LiveOptions): void {
  if (isKeyRight) new Live(channel, options)
  else channel.close(1007, 'API key not valid. Please pass a valid API key.')
}

class Live {
  readonly #channel: Channel
  readonly #options: LiveOptions
  readonly #said: Said[] = []
  #setup: Setup | undefined
  #isReady = false
  #listener: Listener | undefined
  #heard: string[] = []
  #generating: AbortController | undefined
  /** Calls that wait for their results; the model goes on when it has all of them. */
  readonly #calls = new Map<string, string | undefined>()
  #callNumber = 0
  #promptTokens = 0

  constructor(channel: Channel, options: LiveOptions) {
    this.#channel = channel
    this.#options = options
    channel.onMessage((data) => this.#take(data))
  }

  #send(message: object): void {
    this.#channel.send(Buffer.from(JSON.stringify(message)))
  }

  #close([code, reason]: Closing): void {
    this.#options.refused?.(code, reason)
    this.#channel.close(code, reason)
  }

  async #take(data: Buffer): Promise<void> {
    const { fault } = this.#channel
    if (fault?.kind === 'error') return this.#channel.close(fault.status >= 500 ? 1011 : 1007, fault.message)
    let message: ClientMessage
    try {
      message = JSON.parse(String(data)) as ClientMessage
    } catch {
      return this.#close([1007, 'Invalid JSON payload received.'])
    }
    this.#options.told?.(message as Readonly<Record<string, unknown>>)
    const refused = faultOfMessage(message) ?? this.#handle(message)
    if (refused !== undefined) this.#close(refused)
  }

  #handle({ setup, clientContent, realtimeInput, toolResponse, contextUpdate }: ClientMessage): Closing | undefined {
    if (setup !== undefined) return this.#begin(setup)
    if (!this.#isReady) return [1007, 'setup must be the first message and be answered before others are sent']
    if (contextUpdate !== undefined) {
      const { systemInstruction, tools } = contextUpdate
      if (systemInstruction !== undefined) this.#setup = { ...this.#setup, systemInstruction }
      if (tools !== undefined) this.#setup = { ...this.#setup, tools: tools.tools ?? [] }
      return undefined
    }
    if (clientContent !== undefined) {
      this.#newInput()
      for (const turn of clientContent.turns ?? []) this.#say(turn.role === 'user' ? 'user' : 'assistant', textOf(turn))
      if (clientContent.turnComplete === true) this.#generate()
      return undefined
    }
    if (toolResponse !== undefined) return this.#results(toolResponse.functionResponses ?? [])
    return this.#hear(realtimeInput ?? {})
  }

  #begin(setup: Setup): Closing | undefined {
    if (this.#setup !== undefined) return [1007, 'setup must only be sent once']
    const refused = faultOfSetup(setup)
    if (refused !== undefined) return refused
    this.#setup = setup
    this.#options.began?.(() => this.#said)
    const lengthMs = this.#options.sessionMs ?? TEN_MINUTES_MS
    const timers = [
      setTimeout(() => this.#send({ goAway: { timeLeft: `${lengthMs / 10_000}s` } }), lengthMs * 0.9),
      setTimeout(() => this.#channel.close(1011, 'The connection was aborted.'), lengthMs),
    ]
    for (const timer of timers) timer.unref()
    this.#channel.signal.addEventListener('abort', () => timers.map(clearTimeout))
    // As long as a model takes to be set up.
    setTimeout(() => {
      this.#isReady = true
      this.#send({ setupComplete: {} })
    }, 20)
    return undefined
  }

  /** Whatever comes ends calls that wait, and what is being generated. */
  #newInput(): void {
    const ids = [...this.#calls.keys()]
    this.#calls.clear()
    if (ids.length > 0) this.#send({ toolCallCancellation: { ids } })
    this.#generating?.abort()
  }

  #hear({ audio, activityStart, activityEnd }: NonNullable<ClientMessage['realtimeInput']>): Closing | undefined {
    if (activityStart !== undefined) {
      this.#newInput()
      this.#heard = []
      this.#listener = this.#options.speech.listen(IN_RATE_HZ, 200, (heard) => {
        if (heard.type === 'final') this.#heard.push(heard.text)
      })
    } else if (audio !== undefined) {
      this.#listener?.push(samplesOf(Buffer.from(audio.data ?? '', 'base64')))
    } else if (activityEnd !== undefined) {
      if (this.#listener === undefined) return [1007, 'Request contains an invalid argument.']
      this.#listener.flush()
      this.#listener = undefined
      const words = this.#heard.join(' ')
      this.#say('user', words)
      this.#generate()
      if (this.#setup?.inputAudioTranscription !== undefined) this.#transcribe(words)
    }
    return undefined
  }

  /** In pieces beside the answer, of which none is marked as the last. */
  #transcribe(words: string): void {
    for (const [i, text] of (words.match(/\s*\S+/g) ?? []).entries()) {
      const tell = (): void => this.#send({ serverContent: { inputTranscription: { text } } })
      setTimeout(tell, i * BETWEEN_PIECES_MS).unref()
    }
  }

  #results(
    responses: NonNullable<NonNullable<ClientMessage['toolResponse']>['functionResponses']>,
  ): Closing | undefined {
    for (const { id = '', response } of responses) {
      if (!this.#calls.has(id)) return [1008, 'Requested entity was not found.']
      this.#calls.set(id, response?.output ?? '')
    }
    if ([...this.#calls.values()].includes(undefined)) return undefined
    const outputs = [...this.#calls.values()].join(' ')
    this.#calls.clear()
    this.#generate(`The tool said: ${outputs}`)
    return undefined
  }

  #say(role: Said['role'], text: string): void {
    this.#said.push({ role, text })
    this.#promptTokens += Math.ceil(text.length / 4)
  }

  #generate(given?: string): void {
    const stop = new AbortController()
    this.#generating = stop
    const signal = AbortSignal.any([stop.signal, this.#channel.signal])
    this.#reply(given, signal)
      .catch(() => this.#channel.close(1011, 'Internal error occurred.'))
      .finally(() => {
        if (this.#generating === stop) this.#generating = undefined
      })
  }

  #tool(): Declaration | undefined {
    const last = this.#said.at(-1)
    return /use the tool/i.test(last?.text ?? '') ? this.#setup?.tools?.[0]?.functionDeclarations?.[0] : undefined
  }

  async #reply(given: string | undefined, signal: AbortSignal): Promise<void> {
    const tool = given === undefined ? this.#tool() : undefined
    if (tool !== undefined) {
      const id = `function-call-${++this.#callNumber}`
      this.#calls.set(id, undefined)
      return this.#send({ toolCall: { functionCalls: [{ id, name: tool.name, args: { city: 'Paris' } }] } })
    }
    const sources = [textOf(this.#setup?.systemInstruction ?? {})]
    const text = given ?? answer({ sources, turns: this.#said })
    const words = text.match(/\s*\S+/g) ?? []
    const startedAtMs = performance.now()
    let samplesMade = 0
    let said = ''
    for await (const samples of this.#options.speech.speak(text, OUT_RATE_HZ, signal)) {
      if (signal.aborted) break
      samplesMade += samples.length
      const data = bytesOf(samples).toString('base64')
      const inlineData = { mimeType: `audio/pcm;rate=${OUT_RATE_HZ}`, data }
      const next = words.splice(0, 2).join('')
      said += next
      // Sound and its words come in one message.
      const outputTranscription = next === '' ? {} : { outputTranscription: { text: next } }
      this.#send({ serverContent: { modelTurn: { parts: [{ inlineData }] }, ...outputTranscription } })
    }
    if (!signal.aborted) {
      this.#send({ serverContent: { generationComplete: true } })
      // Its words may come after the sound.
      for (const word of words) {
        said += word
        this.#send({ serverContent: { outputTranscription: { text: word } } })
      }
      const lengthMs = (samplesMade * 1000) / OUT_RATE_HZ
      await sleep(Math.max(0, startedAtMs + lengthMs - performance.now()), undefined, { signal }).catch(() => undefined)
    }
    if (this.#channel.signal.aborted) return
    const isInterrupted = signal.aborted
    this.#say('assistant', said)
    if (isInterrupted) this.#send({ serverContent: { interrupted: true } })
    this.#send({ serverContent: { turnComplete: true }, usageMetadata: this.#usage(samplesMade) })
  }

  /** As the wire has it: thoughts are counted apart, and no part of the total. */
  #usage(samplesMade: number): object {
    const spoken = Math.ceil((samplesMade * 25) / OUT_RATE_HZ)
    const promptTokenCount = this.#promptTokens + 20
    return {
      promptTokenCount,
      responseTokenCount: spoken,
      totalTokenCount: promptTokenCount + spoken,
      promptTokensDetails: [{ modality: 'TEXT', tokenCount: this.#promptTokens }],
      responseTokensDetails: [{ modality: 'AUDIO', tokenCount: spoken }],
      thoughtsTokenCount: 12,
    }
  }
}
