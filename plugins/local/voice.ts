import type { SpeakRequest } from './model.ts'
import type { OfflineTts } from './sherpa.ts'
import type { FromThread } from './thread-messages.ts'

/** Sentences that wait for the one being spoken; more and the voice is busy. */
const MAX_WAITING = 64

interface Order {
  session: number
  request: SpeakRequest
  cancelled: boolean
}

/** A voice: one sentence at a time, in the order they were asked for, each sent as it is made. */
export class Voice {
  readonly #engine: OfflineTts
  readonly #say: (message: FromThread, transfer?: ArrayBuffer[]) => void
  readonly #orders: Order[] = []
  #isSpeaking = false

  constructor(engine: OfflineTts, say: (message: FromThread, transfer?: ArrayBuffer[]) => void) {
    this.#engine = engine
    this.#say = say
  }

  speak(session: number, request: SpeakRequest): void {
    if (this.#orders.length >= MAX_WAITING) {
      this.#say({ type: 'failed', session, reason: 'too many sentences wait for this voice', isBusy: true })
      return
    }
    this.#orders.push({ session, request, cancelled: false })
    if (this.#isSpeaking) return
    // biome-ignore lint/complexity/noVoid: what it throws ends this thread, which its owner hears of
    void this.#work()
  }

  cancel(session: number): void {
    const order = this.#orders.find((one) => one.session === session)
    if (order !== undefined) order.cancelled = true
  }

  async #work(): Promise<void> {
    this.#isSpeaking = true
    for (let order = this.#orders[0]; order !== undefined; order = this.#orders[0]) {
      if (!order.cancelled) await this.#speakOne(order)
      this.#orders.shift()
    }
    this.#isSpeaking = false
  }

  async #speakOne(order: Order): Promise<void> {
    const { session, request } = order
    const { text, speaker, speed } = request
    let sent = 0
    const send = (sound: Float32Array): void => {
      sent += sound.length
      const samples = toInt16(sound)
      if (!order.cancelled) this.#say({ type: 'sound', session, samples }, [samples.buffer])
    }
    try {
      const whole = await this.#engine.generateAsync({
        text,
        sid: speaker,
        speed,
        enableExternalBuffer: false,
        onProgress: ({ samples }) => {
          send(samples)
          return !order.cancelled
        },
      })
      if (!order.cancelled && whole.samples.length > sent) send(whole.samples.subarray(sent))
      this.#say({ type: 'done', session })
    } catch (error) {
      this.#say({ type: 'failed', session, reason: error instanceof Error ? error.message : String(error) })
    }
  }
}

function toInt16(sound: Float32Array): Int16Array<ArrayBuffer> {
  return Int16Array.from(sound, (sample) => Math.round(Math.max(-1, Math.min(1, sample)) * 32_767))
}
