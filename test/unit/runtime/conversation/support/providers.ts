import { setTimeout as sleep } from 'node:timers/promises'
import { type APIConnectOptions, llm, stt, tts } from '@livekit/agents'
import { AudioFrame } from '@livekit/rtc-node'
import type { AgentSpec } from '../../../../../runtime/call/types/agent-spec.ts'
import type { ProviderSource } from '../../../../../runtime/conversation/providers/providers.ts'
import type { ProviderIdentity } from '../../../../../runtime/plugin-sdk/provider-error.ts'
import { SegmentedSpeechStream } from '../../../../../runtime/plugin-sdk/speech/segmented-speech-stream.ts'
import type { SignalledEvent } from '../../../../../runtime/plugin-sdk/speech/signal.ts'
import { speech } from './speech.ts'

/** Small providers for the conversation's own tests: real classes of @livekit/agents with scripted contents. */

const LOUD = 400

export interface EarOptions {
  /** What the caller may say. Recognised by how much of its rendering is loud: a gap of the line changes nothing. */
  utterances: readonly string[]
  finalDelayMs?: number
  /** Of silence, before it calls words final. Default: 150. */
  silenceMs?: number
  fail?: () => Error | undefined
  /** How it names the language of an utterance. Default: `en`. */
  languageOf?: (text: string) => string
  /** What it makes of an utterance. Default: its words. */
  writes?: (text: string) => string
  /** What it makes of it before the words are final. Default: the same. */
  drafts?: (text: string) => string
  /** It never calls its words final. */
  staysInterim?: boolean
  /** It hears nothing before; what is said meanwhile waits. */
  ready?: Promise<void>
  /** Its final words end a turn, as it says itself. */
  endsTurns?: boolean
  /** It says so when it hears something else than its utterances. */
  saysUnknown?: boolean
}

export class ScriptedStt extends stt.STT {
  override label = 'test.Stt'
  readonly options: EarOptions
  readonly ready: Promise<void> | undefined
  streams = 0

  constructor(options: EarOptions) {
    super({ streaming: true, interimResults: true })
    this.options = options
    this.ready = options.ready
  }

  override stream(): stt.SpeechStream {
    this.streams++
    return new ScriptedSpeech(this)
  }

  protected override async _recognize(): Promise<stt.SpeechEvent> {
    throw new Error('not used')
  }
}

/** Hears sound, waits for a silence, and answers with the utterance of that length. */
class ScriptedSpeech extends stt.SpeechStream {
  override label = 'test.Speech'
  readonly #owner: ScriptedStt

  constructor(owner: ScriptedStt) {
    super(owner, undefined, { maxRetry: 0, retryIntervalMs: 0, timeoutMs: 1000 })
    this.#owner = owner
  }

  protected override async run(): Promise<void> {
    let voicedMs = 0
    let silentMs = 0
    await this.#owner.options.ready
    for await (const frame of this.input) {
      if (typeof frame === 'symbol') continue
      const failure = this.#owner.options.fail?.()
      if (failure !== undefined) throw failure
      const frameMs = (frame.samplesPerChannel * 1000) / frame.sampleRate
      const loudMs = loudnessMs(frame.data, frame.sampleRate)
      if (loudMs > 0) {
        voicedMs += loudMs
        silentMs = 0
      } else if (voicedMs > 0) silentMs += frameMs
      if (voicedMs === 0 || silentMs < (this.#owner.options.silenceMs ?? 150)) continue
      const text = this.#closest(voicedMs)
      voicedMs = 0
      silentMs = 0
      if (text === undefined) {
        const unknown: SignalledEvent = {
          type: stt.SpeechEventType.END_OF_SPEECH,
          signal: { type: 'unknown_sentence', message: 'Set a real recogniser' },
        }
        if (this.#owner.options.saysUnknown) this.queue.put(unknown)
        continue
      }
      this.#emit(stt.SpeechEventType.INTERIM_TRANSCRIPT, text)
      if (this.#owner.options.staysInterim) continue
      setTimeout(() => this.#emit(stt.SpeechEventType.FINAL_TRANSCRIPT, text), this.#owner.options.finalDelayMs ?? 20)
    }
  }

  #closest(lengthMs: number): string | undefined {
    let best: string | undefined
    let bestMs = 120
    for (const text of this.#owner.options.utterances) {
      const offMs = Math.abs(loudnessMs(speech(text, 16_000), 16_000) - lengthMs)
      if (offMs < bestMs) {
        bestMs = offMs
        best = text
      }
    }
    return best
  }

  #emit(type: stt.SpeechEventType, utterance: string): void {
    if (this.queue.closed) return
    const { languageOf, drafts, ...options } = this.#owner.options
    const isFinal = type === stt.SpeechEventType.FINAL_TRANSCRIPT
    const writes = isFinal ? options.writes : (drafts ?? options.writes)
    const language = (languageOf?.(utterance) ?? 'en') as stt.SpeechData['language']
    const text = writes?.(utterance) ?? utterance
    const event: SignalledEvent = { type, alternatives: [{ language, text, startTime: 0, endTime: 0, confidence: 1 }] }
    if (isFinal && this.#owner.options.endsTurns === true) event.signal = { type: 'end_of_turn' }
    this.queue.put(event)
  }
}

/** How much of it is loud, in pieces of 20 ms. */
function loudnessMs(samples: Int16Array, rateHz: number): number {
  const piece = rateHz / 50
  let loudMs = 0
  for (let at = 0; at < samples.length; at += piece) {
    if (samples.subarray(at, at + piece).some((sample) => Math.abs(sample) > LOUD)) loudMs += 20
  }
  return loudMs
}

export interface Answer {
  /** How long the request takes. */
  afterMs: number
  /** What it gives: words, or an error. */
  gives: string | Error
}

/** Takes whole utterances, as a server of the "transcriptions" API does, and answers them in turn. */
export class UtteranceStt extends stt.STT {
  override label = 'test.Utterances'
  readonly answers: Answer[]
  /** Seconds of each utterance it was asked about. */
  readonly asked: number[] = []

  constructor(answers: readonly Answer[]) {
    super({ streaming: true, interimResults: false })
    this.answers = [...answers]
  }

  override stream(options: { connOptions?: APIConnectOptions } = {}): stt.SpeechStream {
    return new SegmentedSpeechStream(this, {
      provider: { name: 'test', title: 'Test' } as ProviderIdentity,
      connOptions: options.connOptions,
      recognise: async (utterance, signal) => {
        this.asked.push(utterance.samplesPerChannel / utterance.sampleRate)
        const { afterMs, gives } = this.answers.shift() ?? { afterMs: 50, gives: '' }
        await sleep(afterMs, undefined, { signal })
        if (gives instanceof Error) throw gives
        const language = 'en' as stt.SpeechData['language']
        return {
          type: stt.SpeechEventType.FINAL_TRANSCRIPT,
          alternatives: [{ language, text: gives, startTime: 0, endTime: 0, confidence: 1 }],
        }
      },
    })
  }

  protected override async _recognize(): Promise<stt.SpeechEvent> {
    throw new Error('not used')
  }
}

/** Words, or `call <tool>`, or `call <tool> and <tool>`. */
export type Reply = (lastUserWords: string, context: llm.ChatContext) => string | Error

export class ScriptedLlm extends llm.LLM {
  readonly reply: Reply
  readonly asked: string[] = []
  readonly contexts: llm.ChatContext[] = []
  /** It answers nothing before. */
  readonly ready: Promise<void> | undefined

  constructor(reply: Reply, ready?: Promise<void>) {
    super()
    this.reply = reply
    this.ready = ready
  }

  override label(): string {
    return 'test.Llm'
  }

  override chat(options: {
    chatCtx: llm.ChatContext
    toolCtx?: llm.ToolContextLike
    connOptions?: APIConnectOptions
  }): llm.LLMStream {
    const last = options.chatCtx.items.findLast((item) => item.type === 'message' && item.role === 'user')
    const words = last?.type === 'message' ? (last.textContent ?? '') : ''
    this.asked.push(words)
    this.contexts.push(options.chatCtx.copy())
    return new ScriptedAnswer(this, this.reply(words, options.chatCtx), options)
  }
}

class ScriptedAnswer extends llm.LLMStream {
  readonly #answer: string | Error
  readonly #ready: Promise<void> | undefined

  constructor(
    owner: ScriptedLlm,
    answer: string | Error,
    options: { chatCtx: llm.ChatContext; toolCtx?: llm.ToolContextLike; connOptions?: APIConnectOptions },
  ) {
    super(owner, { ...options, connOptions: { maxRetry: 0, retryIntervalMs: 0, timeoutMs: 1000 } })
    this.#answer = answer
    this.#ready = owner.ready
  }

  protected override async run(): Promise<void> {
    await this.#ready
    if (this.#answer instanceof Error) throw this.#answer
    const [, names] = /^call (\w+(?: and \w+)*)$/.exec(this.#answer) ?? []
    if (names !== undefined) {
      const toolCalls = names
        .split(' and ')
        .map((name) => llm.FunctionCall.create({ callId: `c-${name}`, name, args: '{}' }))
      this.queue.put({ id: 'answer', delta: { role: 'assistant', toolCalls } })
      return
    }
    for (const word of this.#answer.match(/\S+\s*/g) ?? []) {
      if (this.closed) return
      this.queue.put({ id: 'answer', delta: { role: 'assistant', content: word } })
    }
    const completionTokens = this.#answer.split(' ').length
    const usage = { completionTokens, promptTokens: 10, promptCachedTokens: 0, totalTokens: completionTokens + 10 }
    this.queue.put({ id: 'answer', usage })
  }
}

export const TONE_MS_PER_CHARACTER = 60
const TONE_RATE_HZ = 16_000

/** Speaks as a tone whose length tells the text: 60 ms a character, or `msPerCharacter`. */
export class ToneTts extends tts.TTS {
  override label = 'test.Tts'
  readonly fail: (() => Error | undefined) | undefined
  readonly said: string[] = []
  readonly msPerCharacter: number

  constructor(fail?: () => Error | undefined, msPerCharacter = TONE_MS_PER_CHARACTER) {
    super(TONE_RATE_HZ, 1, { streaming: true })
    this.fail = fail
    this.msPerCharacter = msPerCharacter
  }

  override synthesize(): tts.ChunkedStream {
    throw new Error('not used')
  }

  override stream(): tts.SynthesizeStream {
    return new ToneStream(this)
  }
}

class ToneStream extends tts.SynthesizeStream {
  override label = 'test.Tone'
  readonly #owner: ToneTts

  constructor(owner: ToneTts) {
    super(owner, { maxRetry: 0, retryIntervalMs: 0, timeoutMs: 1000 })
    this.#owner = owner
  }

  protected override async run(): Promise<void> {
    let said = ''
    for await (const piece of this.input) {
      if (typeof piece !== 'string') continue
      this.markStarted()
      const failure = this.#owner.fail?.()
      if (failure !== undefined) throw failure
      said += piece
      const samples = Math.round((piece.length * this.#owner.msPerCharacter * TONE_RATE_HZ) / 1000)
      const tone = Int16Array.from({ length: samples }, (_, i) => Math.round(6000 * Math.sin(i / 5)))
      if (this.queue.closed) return
      const frame = new AudioFrame(tone, TONE_RATE_HZ, 1, samples)
      this.queue.put({ requestId: 'r', segmentId: 's', frame, final: false })
    }
    this.#owner.said.push(said)
    if (!this.queue.closed) this.queue.put(tts.SynthesizeStream.END_OF_STREAM)
  }
}

export interface TestProviders {
  stt: stt.STT | readonly stt.STT[]
  llm: llm.LLM | readonly llm.LLM[]
  tts: tts.TTS | readonly tts.TTS[]
}

/** The first of each stage is called `test`, those behind it `test-1`, `test-2`. */
export function sourceOf(providers: TestProviders): ProviderSource {
  return {
    create: async (kind: string, name: string) => {
      const index = name === 'test' ? 0 : Number(name.slice('test-'.length))
      const made = [providers[kind as keyof TestProviders]].flat()[index]
      if (made === undefined) throw new Error(`No plugin provides ${kind} "${name}"`)
      return made as never
    },
  }
}

export function fallbacksOf(providers: TestProviders): NonNullable<AgentSpec['fallbacks']> {
  const behind = (kind: 'stt' | 'llm' | 'tts') =>
    [providers[kind]]
      .flat()
      .slice(1)
      .map((_, i) => `test-${i + 1}`)
  return {
    stt: behind('stt').map((provider) => ({ provider, model: '' })),
    llm: behind('llm').map((provider) => ({ provider, model: '' })),
    tts: behind('tts').map((provider) => ({ provider, voice: '' })),
  }
}
