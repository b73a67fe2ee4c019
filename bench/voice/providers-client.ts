import { get } from 'node:http'
import { type APIConnectOptions, llm, stt, tts } from '@livekit/agents'
import { AudioFrame } from '@livekit/rtc-node'
import WebSocket from 'ws'
import { bytesOf } from '../../runtime/media/frame.ts'
import type { ScriptedLine } from './scripted-words.ts'

const RATE_HZ = 16_000

export interface Latencies {
  /** From the recogniser's decision to its words' arrival. */
  sttMs: number
  llmMs: number
  ttsMs: number
}

export interface ProviderOptions extends Latencies {
  port: number
  /** What the caller will say, in this order, round and round. */
  script: readonly ScriptedLine[]
}

export interface BenchProviders {
  stt: stt.STT
  llm: llm.LLM
  tts: tts.TTS
}

/** The simulated providers as plugins would make them: both sides of the comparison get the same. */
export function socketProviders(options: ProviderOptions): BenchProviders {
  return { stt: new SocketStt(options), llm: new SocketLlm(options), tts: new SocketTts(options) }
}

async function opened(url: string): Promise<WebSocket> {
  const socket = new WebSocket(url, { perMessageDeflate: false })
  socket.on('error', () => {})
  await new Promise((resolve, reject) => {
    socket.once('open', resolve)
    socket.once('error', reject)
  })
  return socket
}

class SocketStt extends stt.STT {
  override label = 'bench.Stt'
  readonly options: ProviderOptions

  constructor(options: ProviderOptions) {
    super({ streaming: true, interimResults: true })
    this.options = options
  }

  override stream(): stt.SpeechStream {
    return new SocketSpeech(this)
  }

  protected override async _recognize(): Promise<stt.SpeechEvent> {
    throw new Error('streams only')
  }
}

class SocketSpeech extends stt.SpeechStream {
  override label = 'bench.Speech'
  readonly #options: ProviderOptions

  constructor(owner: SocketStt) {
    super(owner, RATE_HZ)
    this.#options = owner.options
  }

  protected override async run(): Promise<void> {
    const { port, script, sttMs } = this.#options
    const query = `delay=${sttMs}&script=${encodeURIComponent(JSON.stringify(script))}`
    const socket = await opened(`ws://127.0.0.1:${port}/stt?${query}`)
    socket.on('message', (data) => {
      if (this.queue.closed) return
      const { text, final } = JSON.parse(String(data)) as { text: string; final: boolean }
      const type = final ? stt.SpeechEventType.FINAL_TRANSCRIPT : stt.SpeechEventType.INTERIM_TRANSCRIPT
      const language = 'en' as stt.SpeechData['language']
      this.queue.put({ type, alternatives: [{ language, text, startTime: 0, endTime: 0, confidence: 1 }] })
    })
    try {
      for await (const frame of this.input) {
        if (typeof frame !== 'symbol') socket.send(bytesOf(frame.data))
      }
    } finally {
      socket.terminate()
    }
  }
}

class SocketLlm extends llm.LLM {
  readonly options: ProviderOptions

  constructor(options: ProviderOptions) {
    super()
    this.options = options
  }

  override label(): string {
    return 'bench.Llm'
  }

  override chat(options: {
    chatCtx: llm.ChatContext
    toolCtx?: llm.ToolContextLike
    connOptions?: APIConnectOptions
  }): llm.LLMStream {
    const connOptions = { maxRetry: 0, retryIntervalMs: 0, timeoutMs: 5000 }
    return new SocketAnswer(this, this.options, { ...options, connOptions })
  }
}

class SocketAnswer extends llm.LLMStream {
  readonly #options: ProviderOptions

  constructor(owner: SocketLlm, options: ProviderOptions, stream: ConstructorParameters<typeof llm.LLMStream>[1]) {
    super(owner, stream)
    this.#options = options
  }

  protected override async run(): Promise<void> {
    await new Promise<void>((resolve, reject) => {
      const url = `http://127.0.0.1:${this.#options.port}/llm?ttft=${this.#options.llmMs}`
      const request = get(url, { signal: this.abortController.signal }, (response) => {
        response.setEncoding('utf8')
        response.on('data', (text: string) => {
          for (const [, json] of text.matchAll(/data: (.*)\n/g)) {
            if (this.queue.closed) return
            const { word } = JSON.parse(json!) as { word: string }
            this.queue.put({ id: 'x', delta: { role: 'assistant', content: word } })
          }
        })
        response.on('end', resolve)
        response.on('error', reject)
      })
      request.on('error', (error) => (this.abortController.signal.aborted ? resolve() : reject(error)))
    })
  }
}

class SocketTts extends tts.TTS {
  override label = 'bench.Tts'
  readonly options: ProviderOptions

  constructor(options: ProviderOptions) {
    super(RATE_HZ, 1, { streaming: true })
    this.options = options
  }

  override synthesize(): tts.ChunkedStream {
    throw new Error('streams only')
  }

  override stream(): tts.SynthesizeStream {
    return new SocketSpeaker(this)
  }
}

class SocketSpeaker extends tts.SynthesizeStream {
  override label = 'bench.Speaker'
  readonly #options: ProviderOptions

  constructor(owner: SocketTts) {
    super(owner)
    this.#options = owner.options
  }

  protected override async run(): Promise<void> {
    const socket = await opened(`ws://127.0.0.1:${this.#options.port}/tts?ttfb=${this.#options.ttsMs}`)
    const abort = () => socket.terminate()
    this.abortSignal.addEventListener('abort', abort, { once: true })
    const done = new Promise<void>((resolve) => {
      socket.on('close', () => resolve())
      socket.on('message', (data: Buffer, isBinary) => {
        if (!isBinary) return resolve()
        if (this.queue.closed) return
        const samples = new Int16Array(data.buffer.slice(data.byteOffset, data.byteOffset + data.byteLength))
        const frame = new AudioFrame(samples, RATE_HZ, 1, samples.length)
        this.queue.put({ requestId: 'r', segmentId: 's', frame, final: false })
      })
    })
    try {
      for await (const text of this.input) {
        if (typeof text !== 'string') continue
        this.markStarted()
        if (socket.readyState === WebSocket.OPEN) socket.send(JSON.stringify({ text }))
      }
      if (socket.readyState === WebSocket.OPEN) socket.send(JSON.stringify({ end: true }))
      await done
      if (!this.queue.closed) this.queue.put(tts.SynthesizeStream.END_OF_STREAM)
    } finally {
      socket.terminate()
    }
  }
}
