import { ReadableStream } from 'node:stream/web'
import { voice } from '@livekit/agents'
import { AudioFrame } from '@livekit/rtc-node'
import { concatSamples, samplesPerFrame } from '../../runtime/media/frame.ts'
import type { Pacer } from '../../runtime/media/line/pacer.ts'
import type { BenchProviders } from './providers-client.ts'

/** The peer: an AgentSession as its documentation starts one, default options, with plain audio in and out. */
export async function openStock(
  providers: BenchProviders,
  rateHz: number,
  pacer: Pacer,
  firstMessage: string,
  hear: (samples: Int16Array) => void,
): Promise<{ send(samples: Int16Array): void; close(): Promise<void> }> {
  const input = new PeerInput(rateHz)
  const output = new PeerOutput(rateHz, pacer, hear)
  const session = new voice.AgentSession({ stt: providers.stt, llm: providers.llm, tts: providers.tts })
  session.input.audio = input
  session.output.audio = output
  session.on(voice.AgentSessionEventTypes.Error, () => {})
  await session.start({ agent: new voice.Agent({ instructions: 'You are a test.' }), record: false })
  if (firstMessage !== '') session.say(firstMessage)
  return {
    send: (samples) => input.push(samples),
    close: async () => {
      output.close()
      await session.close()
      await input.close()
      await Promise.all([providers.stt.close(), providers.llm.aclose(), providers.tts.close()])
    },
  }
}

class PeerInput extends voice.AudioInput {
  readonly #rateHz: number
  #controller: ReadableStreamDefaultController<AudioFrame> | undefined

  constructor(rateHz: number) {
    super()
    this.#rateHz = rateHz
    this.multiStream.addInputStream(
      new ReadableStream<AudioFrame>({
        start: (controller) => {
          this.#controller = controller
        },
      }),
    )
  }

  push(samples: Int16Array): void {
    this.#controller?.enqueue(new AudioFrame(samples, this.#rateHz, 1, samples.length))
  }
}

/** Plays a frame a tick; pauses, as the room output of the library does. */
class PeerOutput extends voice.AudioOutput {
  readonly #hear: (samples: Int16Array) => void
  readonly #frame: number
  readonly #leave: () => void
  #queued: Int16Array[] = []
  #rest = new Int16Array(0)
  #playedMs = 0
  #flushed = false
  #open = false
  #paused = false

  constructor(rateHz: number, pacer: Pacer, hear: (samples: Int16Array) => void) {
    super(rateHz, undefined, { pause: true })
    this.#hear = hear
    this.#frame = samplesPerFrame(rateHz)
    this.#leave = pacer.add((frames) => {
      for (let i = 0; i < frames; i++) this.#play()
    })
  }

  override async captureFrame(frame: AudioFrame): Promise<void> {
    await super.captureFrame(frame)
    this.#open = true
    this.#flushed = false
    const all = concatSamples(this.#rest, frame.data)
    let at = 0
    for (; at + this.#frame <= all.length; at += this.#frame) this.#queued.push(all.slice(at, at + this.#frame))
    this.#rest = all.slice(at)
  }

  override flush(): void {
    super.flush()
    this.#flushed = true
  }

  override clearBuffer(): void {
    this.#queued = []
    this.#rest = new Int16Array(0)
    this.#finish(true)
  }

  override pause(): void {
    this.#paused = true
  }

  override resume(): void {
    this.#paused = false
  }

  close(): void {
    this.#leave()
    this.clearBuffer()
  }

  #play(): void {
    if (this.#paused) return
    const frame = this.#queued.shift()
    if (frame === undefined) {
      if (this.#open && this.#flushed) this.#finish(false)
      return
    }
    if (this.#playedMs === 0) this.onPlaybackStarted(Date.now())
    this.#playedMs += 20
    this.#hear(frame)
  }

  #finish(interrupted: boolean): void {
    if (!this.#open) return
    this.#open = false
    const playbackPosition = this.#playedMs / 1000
    this.#playedMs = 0
    this.onPlaybackFinished({ playbackPosition, interrupted })
  }
}
