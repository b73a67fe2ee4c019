import { setTimeout as sleep } from 'node:timers/promises'
import WebSocket from 'ws'
import type { ApiClient } from '../instance/api.ts'
import { until } from '../instance/realtime-node.ts'

const FRAME_MS = 20

/** Whoever listens to a call, at the other end of its WebSocket. */
export class Supervisor {
  readonly socket: WebSocket
  /** All that came, in its order. */
  // biome-ignore lint/suspicious/noExplicitAny: a test reads any shape
  readonly messages: any[] = []
  readonly caller: number[] = []
  readonly agent: number[] = []

  /** Listens once this resolves. */
  static async listen(client: ApiClient, callId: string): Promise<Supervisor> {
    const { status, body, text } = await client.post(`/calls/${callId}/listen`)
    if (status !== 201) throw new Error(text)
    const supervisor = new Supervisor(body.url)
    await supervisor.got('listening')
    return supervisor
  }

  constructor(url: string) {
    this.socket = new WebSocket(url)
    this.socket.on('error', () => undefined)
    this.socket.on('message', (data: Buffer, isBinary) => {
      if (!isBinary) return void this.messages.push(JSON.parse(data.toString()))
      const bytes = Buffer.from(data)
      for (let at = 0; at + 3 < bytes.length; at += 4) {
        this.caller.push(bytes.readInt16LE(at))
        this.agent.push(bytes.readInt16LE(at + 2))
      }
    })
  }

  get sampleRateHz(): number {
    return this.messages.find(({ type }) => type === 'listening').audio.sample_rate
  }

  send(message: unknown): void {
    this.socket.send(JSON.stringify(message))
  }

  // biome-ignore lint/suspicious/noExplicitAny: a test reads any shape
  got(type: string, wanted: (message: any) => boolean = () => true, timeoutMs?: number): Promise<void> {
    return until(
      () => this.messages.some((message) => message.type === type && wanted(message)),
      () => `${type}; came ${JSON.stringify(this.messages)}`,
      timeoutMs,
    )
  }

  /** Events of the call of this type so far. */
  // biome-ignore lint/suspicious/noExplicitAny: a test reads any shape
  events(type: string): any[] {
    return this.messages.filter(({ event }) => event?.type === type)
  }

  /** Resolves once as many events of the call were of this type. */
  happened(type: string, times = 1, timeoutMs?: number): Promise<void> {
    return this.got('event', () => this.events(type).length >= times, timeoutMs)
  }

  /** Speaks a steady sample as it would be spoken, until told that it is enough. Resolves with how long, in ms. */
  async speak(sample: number, isEnough: (spokenMs: number) => boolean): Promise<number> {
    const frame = Buffer.from(new Int16Array((this.sampleRateHz * FRAME_MS) / 1_000).fill(sample).buffer)
    const startedMs = performance.now()
    let spokenMs = 0
    while (!isEnough(spokenMs)) {
      for (; spokenMs < performance.now() - startedMs; spokenMs += FRAME_MS) this.socket.send(frame)
      await sleep(FRAME_MS)
    }
    return spokenMs
  }
}
