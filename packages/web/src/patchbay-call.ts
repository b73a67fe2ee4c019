import { CallError } from './call-error.ts'
import { Emitter } from './emitter.ts'
import { closeStream, openMicrophone } from './microphone.ts'
import { MicrophoneWatch } from './microphone-watch.ts'
import { PeerAudio, type PeerStats } from './peer-audio.ts'
import { PlaybackWatch } from './playback-watch.ts'
import type { AgentState, ServerMessage } from './protocol.ts'
import { publicSession, type Session } from './session.ts'
import { SessionSocket } from './session-socket.ts'
import { SocketAudio } from './socket-audio.ts'
import { Speaker } from './speaker.ts'

/** An offer that leads nowhere for so long: a firewall, as a rule. */
const CONNECT_MS = 6_000
/** As long as the server keeps a session whose page is away. */
const GIVE_UP_MS = 20_000

export type CallState = 'idle' | 'microphone' | 'connecting' | 'connected' | 'reconnecting' | 'ended'

/** Words of a side: until `final` they may change. Those of the agent are the ones that were heard. */
export interface Transcript {
  role: 'user' | 'assistant'
  text: string
  final: boolean
  startMs: number
  endMs: number
}

export interface CallEvents {
  state: CallState
  transcript: Transcript
  /** What the agent does. */
  agent: AgentState
  /** The caller cut in: the agent fell silent. */
  interrupted: undefined
  /** Loudness of both sides, 0–1, ten times a second each. */
  level: { side: 'microphone' | 'agent'; level: number }
  /** True: the browser plays nothing before a click that calls `resumePlayback()`. */
  playbackblocked: boolean
  /** True: the system gives the page silence in place of the microphone, as during a phone call. */
  microphonemuted: boolean
  /** Microphones and speakers came or went. */
  devices: undefined
  error: CallError
  /** Exactly once. */
  ended: { reason: string }
}

export interface CallOptions {
  /** Gives a session: as a rule it asks the page's own server, which has the API key. */
  session?: () => Session | Promise<Session>
  /** A public agent, in place of `session`. */
  agent?: string
  /** Where the public agent lives. Default: the page's origin. */
  server?: string
  /** How audio goes. Default `auto`: WebRTC where it is to be had, else the WebSocket. */
  transport?: 'auto' | 'webrtc' | 'websocket'
  /** False: listen and type only. Or wishes, such as `{ deviceId }`. Default true. */
  microphone?: boolean | MediaTrackConstraints
  /** Functions of the page that the agent may call: tools of type `client`, by their names. What they return the agent reads. */
  tools?: Readonly<Record<string, (given: Record<string, unknown>) => unknown>>
  /** A speaker, by its deviceId. */
  speaker?: string
  /** Address of `worklet.js`, for pages whose policy allows no `blob:` scripts. */
  workletUrl?: string
}

/** One call with an agent. Starts once. */
export class PatchbayCall extends Emitter<CallEvents> {
  readonly #options: CallOptions
  readonly #speaker: Speaker
  #state: CallState = 'idle'
  #agentState: AgentState = 'listening'
  #context: AudioContext | undefined
  #microphone: MediaStream | undefined
  #playback: PlaybackWatch | undefined
  readonly #watch = new MicrophoneWatch({
    muted: (isMuted) => this.emit('microphonemuted', isMuted),
    ended: () => void this.#reopenMicrophone(),
  })
  #socket: SessionSocket | undefined
  #audio: SocketAudio | undefined
  #peer: PeerAudio | undefined
  #lost = { socket: false, media: false }
  #givingUp: ReturnType<typeof setTimeout> | undefined
  #early: ArrayBuffer[] = []
  #muted = false
  #callLogId: string | undefined
  #settle: { resolve(): void; reject(error: CallError): void } | undefined

  constructor(options: CallOptions) {
    super()
    if (options.session === undefined && options.agent === undefined) {
      throw new TypeError('PatchbayCall needs `session`, or the id of a public agent as `agent`')
    }
    this.#options = options
    this.#speaker = new Speaker((blocked) => this.emit('playbackblocked', blocked))
  }

  get state(): CallState {
    return this.#state
  }

  get agentState(): AgentState {
    return this.#agentState
  }

  get isMuted(): boolean {
    return this.#muted
  }

  /** The call's log, GET /calls/{id}, once connected. */
  get callLogId(): string | undefined {
    return this.#callLogId
  }

  /** To be called in a click. Resolves when the agent is there; rejects with a CallError. */
  async start(): Promise<void> {
    if (this.#state !== 'idle') throw new TypeError('A PatchbayCall starts once: make another one')
    const { microphone = true, speaker } = this.#options
    try {
      if (typeof AudioWorkletNode === 'undefined') {
        const code = globalThis.isSecureContext === false ? 'insecure_page' : 'unsupported_browser'
        throw new CallError(code, 'Calls need a browser with audio worklets, and a page served over https')
      }
      if (microphone !== false) {
        this.#become('microphone')
        this.#microphone = await openMicrophone(microphone === true ? {} : microphone)
        this.#applyMute()
        this.#watch.watch(this.#microphone)
        navigator.mediaDevices.addEventListener('devicechange', this.#devicesChanged)
      }
      this.#requireOngoing()
      this.#become('connecting')
      this.#context = new AudioContext({ latencyHint: 'interactive' })
      if (speaker !== undefined) await this.#speaker.choose(speaker)
      await this.#dial()
    } catch (error) {
      const fault = error instanceof CallError ? error : new CallError('session_refused', String(error), error)
      this.#end(fault.code)
      throw fault
    }
  }

  mute(): void {
    this.#muted = true
    this.#applyMute()
  }

  unmute(): void {
    this.#muted = false
    this.#applyMute()
  }

  /** 0–1. */
  set volume(volume: number) {
    this.#speaker.volume = volume
  }

  /** A typed turn. */
  say(text: string): void {
    if (text.trim() !== '') this.#socket?.send({ type: 'text', text })
  }

  /** Keys of a telephone: 0–9, A–D, * and #. Anything else is passed over. */
  press(keys: string): void {
    for (const digit of keys.toUpperCase().replace(/[^0-9A-D*#]/g, '')) this.#socket?.send({ type: 'dtmf', digit })
  }

  async setMicrophone(deviceId: string): Promise<void> {
    const { microphone } = this.#options
    const wishes = typeof microphone === 'object' ? microphone : {}
    const next = await openMicrophone({ ...wishes, deviceId: { exact: deviceId } })
    if (this.#state === 'ended') return closeStream(next)
    this.#useMicrophone(next)
  }

  #useMicrophone(next: MediaStream): void {
    this.#watch.watch(next)
    closeStream(this.#microphone)
    this.#microphone = next
    this.#applyMute()
    this.#audio?.setMicrophone(next)
    this.#peer?.setMicrophone(next)
  }

  setSpeaker(deviceId: string): Promise<void> {
    return this.#speaker.choose(deviceId)
  }

  /** In a click, after `playbackblocked`. */
  async resumePlayback(): Promise<void> {
    await this.#context?.resume()
    await this.#speaker.resume()
  }

  /** Hangs up. */
  end(): void {
    this.#socket?.close({ type: 'end' })
    this.#end('caller_hangup')
  }

  /** How audio goes, and how well as far as the browser knows. */
  stats(): PeerStats & { transport?: 'webrtc' | 'websocket' } {
    if (this.#peer !== undefined) return { transport: 'webrtc', ...this.#peer.stats }
    return this.#audio === undefined ? {} : { transport: 'websocket' }
  }

  async #session(): Promise<Session> {
    const { agent, server = globalThis.location?.origin, session } = this.#options
    const given = session === undefined ? await publicSession(server, agent!) : await session()
    this.#requireOngoing()
    return given
  }

  async #dial(): Promise<void> {
    const { transport = 'auto' } = this.#options
    const given = await this.#session()
    const hasPeers = given.webrtc != null && typeof RTCPeerConnection !== 'undefined'
    if (transport === 'websocket' || (transport === 'auto' && !hasPeers)) return this.#connect(given)
    if (!hasPeers) throw new CallError('connection_failed', 'There is no WebRTC, in this browser or on the server')
    try {
      await this.#connect(given, given.webrtc!.ice_servers)
    } catch (error) {
      if (transport !== 'auto' || (this.#state as CallState) === 'ended') throw error
      // Its token is spent.
      await this.#connect(await this.#session())
    }
  }

  #connect({ realtime_url: url }: Session, iceServers?: RTCIceServer[]): Promise<void> {
    return new Promise((resolve, reject) => {
      const socket = new SessionSocket(url, iceServers === undefined ? 'websocket' : 'webrtc', {
        message: (message) => this.#received(message),
        audio: (bytes) => this.#heard(bytes),
        lost: () => this.#loses('socket', true),
        resumed: () => this.#loses('socket', false),
        failed: (reason) => this.#failed(reason),
      })
      this.#socket = socket
      const timer = iceServers && setTimeout(() => this.#failed('connection_failed'), CONNECT_MS)
      this.#settle = {
        resolve: () => {
          clearTimeout(timer)
          resolve()
        },
        reject: (error) => {
          clearTimeout(timer)
          reject(error)
        },
      }
      if (iceServers === undefined) return
      this.#peer = new PeerAudio(
        {
          iceServers,
          speaker: this.#speaker,
          send: (message) => socket.send(message),
          level: (side, level) => this.emit('level', { side, level }),
          lost: () => {
            this.#loses('media', true)
            socket.suspect()
          },
          found: () => this.#loses('media', false),
        },
        this.#microphone,
      )
    })
  }

  /** A session that never began over WebRTC may begin over its WebSocket. */
  #failed(reason: string): void {
    if (this.#peer === undefined || this.#settle === undefined) {
      this.#end(reason)
      return
    }
    this.#socket?.close({ type: 'end' })
    this.#peer.close()
    this.#peer = undefined
    this.#settle.reject(new CallError('connection_failed', 'The server was not reached over WebRTC'))
    this.#settle = undefined
  }

  #loses(what: 'socket' | 'media', isLost: boolean): void {
    this.#lost[what] = isLost
    clearTimeout(this.#givingUp)
    if (this.#settle !== undefined) return
    if (this.#lost.media) {
      this.#givingUp = setTimeout(() => {
        this.#socket?.close({ type: 'end' })
        this.#end('connection_lost')
      }, GIVE_UP_MS)
    }
    this.#become(this.#lost.socket || this.#lost.media ? 'reconnecting' : 'connected')
  }

  #received(message: ServerMessage): void {
    switch (message.type) {
      case 'session.started':
        this.#callLogId = message.call_log_id
        if (message.media === 'webrtc') {
          this.#peer?.started()
          this.#connected()
          break
        }
        this.#started(message.audio.sample_rate).catch((error) => {
          this.#socket?.close({ type: 'end' })
          this.#settle?.reject(new CallError('unsupported_browser', 'The audio could not be opened', error))
        })
        break
      case 'webrtc.offer':
        this.#peer?.offered(message.sdp)
        break
      case 'agent.state':
        this.#agentState = message.state
        this.emit('agent', message.state)
        break
      case 'transcript': {
        const { role, text, final, start_ms: startMs, end_ms: endMs } = message
        this.emit('transcript', { role, text, final, startMs, endMs })
        break
      }
      case 'audio.clear':
        this.#early = []
        this.#audio?.clear()
        this.emit('interrupted', undefined)
        break
      case 'audio.mark':
        this.#audio?.mark(message.id)
        break
      case 'tool.call':
        void this.#callTool(message.call_id, message.name, message.arguments)
        break
      case 'error':
        this.emit('error', new CallError('server', message.message, message.code))
        break
      case 'session.ended':
        if (message.reason === 'connection_failed') this.#failed(message.reason)
        else this.#end(message.reason)
    }
  }

  async #callTool(callId: string, name: string, given: Record<string, unknown>): Promise<void> {
    const { tools = {} } = this.#options
    const answer = { type: 'tool.result', call_id: callId } as const
    try {
      if (!Object.hasOwn(tools, name)) throw new Error(`The page has no function "${name}"`)
      const result = (await tools[name]!(given)) ?? null
      JSON.stringify(result)
      this.#socket?.send({ ...answer, result })
    } catch (error) {
      const words = error instanceof Error ? error.message : String(error)
      this.#socket?.send({ ...answer, error: words.slice(0, 2_000) })
    }
  }

  async #started(rateHz: number): Promise<void> {
    const audio = await SocketAudio.open(
      {
        context: this.#context!,
        rateHz,
        workletUrl: this.#options.workletUrl,
        speaker: this.#speaker,
        send: (bytes) => this.#socket?.sendAudio(bytes),
        played: (id) => this.#socket?.send({ type: 'audio.played', id }),
        level: (side, level) => this.emit('level', { side, level }),
      },
      this.#microphone,
    )
    if (this.#state === 'ended') return audio.close()
    this.#audio = audio
    this.#playback = new PlaybackWatch(this.#context!, (blocked) => this.emit('playbackblocked', blocked))
    for (const bytes of this.#early.splice(0)) audio.play(bytes)
    this.#connected()
  }

  #connected(): void {
    this.#become('connected')
    this.#settle?.resolve()
    this.#settle = undefined
  }

  #heard(bytes: ArrayBuffer): void {
    if (this.#audio === undefined) this.#early.push(bytes)
    else this.#audio.play(bytes)
  }

  #become(state: CallState): void {
    if (this.#state === state || this.#state === 'ended') return
    this.#state = state
    this.emit('state', state)
  }

  #applyMute(): void {
    for (const track of this.#microphone?.getAudioTracks() ?? []) track.enabled = !this.#muted
  }

  /** The call may have been ended while something was waited for. */
  #requireOngoing(): void {
    if (this.#state === 'ended') throw new CallError('connection_failed', 'The call was ended before it began')
  }

  readonly #devicesChanged = (): void => {
    this.emit('devices', undefined)
    // One may have come in place of the one that is gone.
    if (this.#microphone?.getAudioTracks().every(({ readyState }) => readyState === 'ended'))
      void this.#reopenMicrophone()
  }

  /** The microphone is gone: the call goes on with the system's own choice, if there is one. */
  async #reopenMicrophone(): Promise<void> {
    const { microphone } = this.#options
    const { deviceId: _, ...wishes } = typeof microphone === 'object' ? microphone : {}
    try {
      const next = await openMicrophone(wishes)
      if (this.#state === 'ended') return closeStream(next)
      this.#useMicrophone(next)
    } catch (error) {
      if (this.#state === 'ended') return
      const words = 'The microphone is gone: connect one, or allow it for this page again'
      this.emit('error', new CallError('microphone_missing', words, error))
    }
  }

  #end(reason: string): void {
    if (this.#state === 'ended') return
    this.#become('ended')
    clearTimeout(this.#givingUp)
    this.#socket?.close()
    this.#audio?.close()
    this.#peer?.close()
    this.#speaker.close()
    this.#playback?.close()
    this.#watch.watch(undefined)
    closeStream(this.#microphone)
    void this.#context?.close().catch(() => undefined)
    globalThis.navigator?.mediaDevices?.removeEventListener('devicechange', this.#devicesChanged)
    this.#settle?.reject(new CallError('connection_failed', `The session ended before it began: ${reason}`))
    this.#settle = undefined
    this.emit('ended', { reason })
  }
}
