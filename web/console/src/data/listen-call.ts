import type { SupervisorMessage, ToSupervisor } from '../../../../api/supervision/messages.ts'
import { closeStream, openMicrophone } from '../../../../packages/web/src/microphone.ts'
import workletUrl from '../../../../packages/web/src/worklet.ts?worker&url'
import { api } from './api.ts'
import { ListenPeer } from './listen-peer.ts'
import { StereoPlayer } from './stereo-player.ts'

export type Order = SupervisorMessage['type']

interface ListenEvents {
  /** Both sides are heard from here on. */
  listening(): void
  /** The instance did what was asked. */
  done(order: Order): void
  /** It did not, and why. */
  refused(code: string, sentence: string): void
  /** Over; `reason` of the call's end, or undefined where only the connection is gone. */
  over(reason: string | undefined): void
  /** Loudness of a side, 0 to 1, ten times a second. */
  level(side: 'microphone' | 'agent', level: number): void
}

type Received = ToSupervisor | { type: 'event' }
/** Where the sound may go over a peer connection; null: over the socket alone. */
type Terms = { ice_servers: RTCIceServer[] } | null
/** What waits to be sent is late: the caller had better miss it. */
const MAX_WAITING_BYTES = 32 * 1024

/** A supervisor at a running call: hears both sides, gives orders, speaks once the call is taken over. */
export class ListenCall {
  readonly #events: ListenEvents
  readonly #callId: string
  #peer: ListenPeer | undefined
  #socket: WebSocket | undefined
  #player: StereoPlayer | undefined
  #rateHz = 8_000
  #context: AudioContext | undefined
  #microphone: MediaStream | undefined
  #closed = false

  /** In a click: browsers play nothing before one. Rejects with the API's sentence. */
  static async open(callId: string, events: ListenEvents): Promise<ListenCall> {
    const listen = new ListenCall(callId, events)
    await listen.#join(true)
    return listen
  }

  private constructor(callId: string, events: ListenEvents) {
    this.#callId = callId
    this.#events = events
  }

  order(message: SupervisorMessage): void {
    if (this.#socket?.readyState === WebSocket.OPEN) this.#socket.send(JSON.stringify(message))
  }

  /** Opens the microphone, then asks for the call. Rejects with a CallError where there is no microphone. */
  async takeOver(): Promise<void> {
    this.#microphone ??= await openMicrophone()
    if (this.#closed) return this.#silence()
    this.order({ type: 'take_over' })
  }

  mute(isMuted: boolean): void {
    for (const track of this.#microphone?.getAudioTracks() ?? []) track.enabled = !isMuted
  }

  /** Leaves the call to the agent. */
  close(): void {
    this.order({ type: 'leave' })
    this.#end(undefined, false)
  }

  async #join(mayUsePeer: boolean): Promise<void> {
    const { url, webrtc } = await api<{ url: string; webrtc: Terms }>(`/calls/${this.#callId}/listen`, {
      method: 'POST',
    })
    if (this.#closed) return
    const { pathname, search } = new URL(url)
    const address = `${location.origin.replace(/^http/, 'ws')}${pathname}${search}`
    this.#peer?.close()
    this.#peer = undefined
    if (webrtc === null || !mayUsePeer) return this.#connect(address)
    this.#peer = new ListenPeer({
      iceServers: webrtc.ice_servers,
      send: (message) => {
        if (this.#socket?.readyState === WebSocket.OPEN) this.#socket.send(JSON.stringify(message))
      },
      level: (side, level) => this.#events.level(side, level),
    })
    this.#connect(`${address}&media=webrtc`)
  }

  #connect(url: string): void {
    const socket = new WebSocket(url)
    this.#socket = socket
    socket.binaryType = 'arraybuffer'
    socket.onmessage = ({ data }: MessageEvent<string | ArrayBuffer>) =>
      typeof data === 'string' ? this.#told(JSON.parse(data) as Received) : this.#player?.play(new Int16Array(data))
    socket.onclose = () => {
      if (this.#socket === socket) this.#end(undefined)
    }
  }

  #told(message: Received): void {
    switch (message.type) {
      case 'listening':
        this.#rateHz = message.audio.sample_rate
        this.#player = this.#peer
          ? undefined
          : new StereoPlayer(this.#rateHz, (side, level) => this.#events.level(side, level))
        this.#events.listening()
        break
      case 'webrtc.offer':
        this.#peer?.offered(message.sdp)
        break
      case 'done':
        if (message.of === 'take_over') void this.#speak()
        if (message.of === 'give_back') this.#silence()
        this.#events.done(message.of)
        break
      case 'error':
        if (message.code === 'connection_failed') {
          // The network lets none through: the socket carries the sound, too.
          this.#socket = undefined
          this.#silence()
          this.#join(false).catch(() => this.#end(undefined))
          break
        }
        if (message.code === 'taken') this.#silence()
        this.#events.refused(message.code, message.message)
        break
      case 'ended':
        this.#end(message.reason)
    }
  }

  /** The caller hears the microphone; its own echo of a moment ago must not be heard. */
  async #speak(): Promise<void> {
    if (this.#microphone === undefined) return
    if (this.#peer !== undefined) {
      this.#peer.setMicrophone(this.#microphone)
      return
    }
    this.#player?.hear('caller')
    const context = new AudioContext({ latencyHint: 'interactive' })
    this.#context = context
    await context.audioWorklet.addModule(workletUrl)
    if (this.#context !== context) return
    const capture = new AudioWorkletNode(context, 'patchbay-capture', {
      numberOfOutputs: 0,
      channelCount: 1,
      channelCountMode: 'explicit',
      processorOptions: { rateHz: this.#rateHz },
    })
    capture.port.onmessage = ({ data: { bytes } }: MessageEvent<{ bytes?: ArrayBuffer }>) => {
      const { readyState, bufferedAmount } = this.#socket ?? {}
      if (bytes && readyState === WebSocket.OPEN && (bufferedAmount ?? 0) < MAX_WAITING_BYTES) this.#socket?.send(bytes)
    }
    context.createMediaStreamSource(this.#microphone).connect(capture)
  }

  #silence(): void {
    this.#peer?.setMicrophone(undefined)
    closeStream(this.#microphone)
    this.#microphone = undefined
    void this.#context?.close()
    this.#context = undefined
    this.#player?.hear('both')
  }

  #end(reason: string | undefined, tell = true): void {
    if (this.#closed) return
    this.#closed = true
    this.#silence()
    this.#player?.close()
    this.#peer?.close()
    this.#socket?.close()
    if (tell) this.#events.over(reason)
  }
}
