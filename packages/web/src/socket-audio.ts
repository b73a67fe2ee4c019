import { type Loopback, loopback } from './loopback.ts'
import type { Speaker } from './speaker.ts'

/** The worklet's code, put here by the build: a page whose policy allows no blob: script names a file instead. */
declare const WORKLET_SOURCE: string

export interface SocketAudioOptions {
  context: AudioContext
  /** Samples a second of the session. */
  rateHz: number
  workletUrl: string | undefined
  speaker: Speaker
  send(bytes: ArrayBuffer): void
  played(markId: number): void
  level(side: 'microphone' | 'agent', level: number): void
}

type FromWorklet = { level?: number; bytes?: ArrayBuffer; played?: number }

/** Audio of a session over its WebSocket: captured, sent, received and played, with its echo cancelled. */
export class SocketAudio {
  readonly #options: SocketAudioOptions
  readonly #playback: AudioWorkletNode
  readonly #out: MediaStreamAudioDestinationNode
  #capture: AudioWorkletNode | undefined
  #source: MediaStreamAudioSourceNode | undefined
  #loop: Loopback | undefined

  private constructor(options: SocketAudioOptions) {
    this.#options = options
    const { context, rateHz } = options
    const processorOptions = { rateHz }
    this.#playback = new AudioWorkletNode(context, 'patchbay-playback', {
      numberOfInputs: 0,
      outputChannelCount: [1],
      processorOptions,
    })
    this.#playback.port.onmessage = ({ data }: MessageEvent<FromWorklet>) => {
      if (data.played !== undefined) options.played(data.played)
      if (data.level !== undefined) options.level('agent', data.level)
    }
    this.#out = context.createMediaStreamDestination()
    this.#out.channelCount = 1
    this.#playback.connect(this.#out)
  }

  static async open(options: SocketAudioOptions, microphone: MediaStream | undefined): Promise<SocketAudio> {
    const { context, workletUrl } = options
    const url = workletUrl ?? URL.createObjectURL(new Blob([WORKLET_SOURCE], { type: 'text/javascript' }))
    try {
      await context.audioWorklet.addModule(url)
    } finally {
      if (workletUrl === undefined) URL.revokeObjectURL(url)
    }
    const audio = new SocketAudio(options)
    audio.setMicrophone(microphone)
    await context.resume()
    audio.#loop = microphone && (await loopback(audio.#out.stream))
    await options.speaker.play(audio.#loop?.stream ?? audio.#out.stream)
    return audio
  }

  setMicrophone(stream: MediaStream | undefined): void {
    const { context, rateHz, send, level } = this.#options
    this.#source?.disconnect()
    if (stream === undefined) return
    if (this.#capture === undefined) {
      this.#capture = new AudioWorkletNode(context, 'patchbay-capture', {
        numberOfOutputs: 0,
        channelCount: 1,
        channelCountMode: 'explicit',
        processorOptions: { rateHz },
      })
      this.#capture.port.onmessage = ({ data }: MessageEvent<FromWorklet>) => {
        if (data.bytes !== undefined) send(data.bytes)
        if (data.level !== undefined) level('microphone', data.level)
      }
    }
    this.#source = context.createMediaStreamSource(stream)
    this.#source.connect(this.#capture)
  }

  play(bytes: ArrayBuffer): void {
    this.#playback.port.postMessage(bytes, [bytes])
  }

  mark(id: number): void {
    this.#playback.port.postMessage({ mark: id })
  }

  clear(): void {
    this.#playback.port.postMessage('clear')
  }

  close(): void {
    this.#source?.disconnect()
    this.#playback.disconnect()
    this.#loop?.close()
  }
}
