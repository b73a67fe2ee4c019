import { execFile } from 'node:child_process'
import { lookup } from 'node:dns/promises'
import { networkInterfaces } from 'node:os'
import { join } from 'node:path'
import { isInternalAddress } from '../../../runtime/lib/address.ts'
import { boundary } from '../../../runtime/lib/async/boundary.ts'
import type { Clock } from '../../../runtime/lib/clock.ts'
import { prepareOpusRepair } from '../../../runtime/media/codecs/opus-repair.ts'
import { Pacer } from '../../../runtime/media/line/pacer.ts'
import type { Logger } from '../../../runtime/process/log.ts'
import { asProcess } from '../../../runtime/process/own-act.ts'
import type { RealtimeLegOptions } from '../realtime-leg.ts'
import { MediaServer } from './media-server.ts'
import type { MediaTransport, MediaTransportEvents } from './media-transport.ts'
import { WebRtcLeg } from './webrtc-leg.ts'
import { cacheFolder, RECIPE } from './worker-cache.ts'
import { findWorkerProgram } from './worker-program.ts'

/** The WebRTC part of a client's session. */
interface WebRtcTerms {
  transports: ('udp' | 'tcp')[]
  ice_servers: { urls: string[]; username?: string; credential?: string }[]
}

export type WebRtcState = 'off' | 'looking' | 'building' | 'open' | 'unavailable'

export interface WebRtcOptions {
  config: {
    readonly port: number
    readonly publicUrl: string
    readonly publicUrlGiven: boolean
    readonly webrtc: string
    readonly webrtcPort: number | undefined
    readonly webrtcPublicAddress: string | undefined
    readonly webrtcWorker: string | undefined
  }
  env: Readonly<Record<string, string | undefined>>
  clock: Clock
  log: Logger
}

/** Between the API's port and the first that is tried where none is set, and how many are tried. */
const PORT_DISTANCE = 2_000
const PORTS_TRIED = 10
const MAX_PORT = 65_535
const OUTPUT_BYTES = 16 << 20
/** Of the build: something it needs is not installed. */
const LACKS_TOOLS = 3
const FALLBACK = 'Web calls use the WebSocket'

/**
 * WebRTC of this node. Its media worker is a program apart, which is looked for, and built where there is none, while the node
 * serves: legs are opened from then on.
 */
export class WebRtc {
  readonly #options: WebRtcOptions
  readonly #pacer: Pacer
  readonly #stop = new AbortController()
  #server: MediaServer | undefined
  #state: WebRtcState
  #sentence = ''
  #sessions = 0

  constructor(options: WebRtcOptions) {
    this.#options = options
    this.#pacer = new Pacer(options.clock, (err) => options.log.error({ err }, 'A WebRTC leg failed at its tick'))
    this.#state = options.config.webrtc === 'off' ? 'off' : 'looking'
    this.#sentence = this.#state === 'off' ? `${FALLBACK}: PATCHBAY_WEBRTC is off` : `${FALLBACK} until WebRTC is ready`
  }

  /** How it stands, in a word and in a sentence. */
  get standing(): { state: WebRtcState; sentence: string } {
    return { state: this.#state, sentence: this.#sentence }
  }

  /** Null: unavailable, or not ready yet. */
  get terms(): WebRtcTerms | null {
    return this.#server?.isOpen === true ? { transports: ['udp', 'tcp'], ice_servers: [] } : null
  }

  /** Legs that are open or being opened. */
  get sessions(): number {
    return this.#sessions
  }

  get server(): MediaServer | undefined {
    return this.#server
  }

  /** Begins to look for a worker. Resolves once it is there, or can't be had; never rejects. */
  async start(): Promise<void> {
    if (this.#state === 'off') return
    try {
      const program = (await this.#find()) ?? (await this.#build())
      if (program !== undefined && !this.#stop.signal.aborted) await this.#open(program)
    } catch (err) {
      if (this.#stop.signal.aborted) return
      this.#becomes('unavailable', `${FALLBACK}: the media worker could not be started`)
      this.#options.log.error({ err }, this.#sentence)
    }
  }

  /** A leg over this connection; `toStranger`: of anybody on the internet. */
  leg(options: RealtimeLegOptions, toStranger: boolean): WebRtcLeg {
    const server = this.#server
    const leg = new WebRtcLeg({
      ...options,
      open: async (events) => {
        if (server === undefined) throw new Error('There is no media worker')
        return server.open(events, { toStranger })
      },
      pacer: this.#pacer,
      log: this.#options.log,
      released: () => this.#sessions--,
    })
    this.#sessions++
    return leg
  }

  /** Media for a supervisor: stereo towards them. */
  get listening(): { open(events: MediaTransportEvents): Promise<MediaTransport>; pacer: Pacer } {
    return {
      open: async (events) => {
        if (this.#server === undefined) throw new Error('There is no media worker')
        return this.#server.open(events, { stereo: true })
      },
      pacer: this.#pacer,
    }
  }

  stop(): void {
    this.#stop.abort()
    this.#server?.stop()
    this.#server = undefined
    if (this.#state !== 'off') this.#becomes('off', 'The node stops')
  }

  #find(): Promise<string | undefined> {
    const { config, env, log } = this.#options
    return findWorkerProgram({
      named: config.webrtcWorker,
      cache: cacheFolder(env),
      signal: this.#stop.signal,
      unfit: (path, why) => log.warn({ path, why }, 'Found a media worker that does not work'),
    })
  }

  /** Builds one in the background, where that can be. */
  async #build(): Promise<string | undefined> {
    const { config, env, log } = this.#options
    if (config.webrtcWorker !== undefined) {
      this.#becomes('unavailable', `${FALLBACK}: PATCHBAY_WEBRTC_WORKER names no program that carries calls`)
      log.warn(this.#sentence)
      return undefined
    }
    this.#becomes('building', `${FALLBACK}: the media worker of WebRTC is being built in the background, once`)
    const args = [join(RECIPE, 'build.ts'), ...(config.webrtc === 'build' ? ['--install'] : [])]
    const { PATH, HOME, XDG_CACHE_HOME } = env
    const options = { env: { PATH, HOME, XDG_CACHE_HOME }, signal: this.#stop.signal, maxBuffer: OUTPUT_BYTES }
    const built = new Promise<{ code: number; words: string }>((resolve) => {
      asProcess(() => {
        const child = execFile(process.execPath, args, options, (error, _stdout, stderr) =>
          resolve({
            code: error === null ? 0 : Number(error.code) || 1,
            words: stderr.trim().split('\n').at(-1) ?? '',
          }),
        )
        // A build of minutes says so; one that lacks its tools is over before.
        child.stdout?.once(
          'data',
          boundary('webrtc', () => log.info(`${this.#sentence}. It takes some minutes; then WebRTC is there`)),
        )
      })
    })
    const { code, words } = await built
    if (this.#stop.signal.aborted) return undefined
    const program = code === 0 ? await this.#find() : undefined
    if (program !== undefined) return program
    this.#becomes('unavailable', `${FALLBACK}: ${words || 'the media worker of WebRTC could not be built'}`)
    if (code === LACKS_TOOLS) log.info(this.#sentence)
    else log.warn(this.#sentence)
    return undefined
  }

  async #open(workerBin: string): Promise<void> {
    const { config, log } = this.#options
    const { publicAddress, strangersAddress } = await addressesOf(config)
    await prepareOpusRepair()
    const server = new MediaServer({ workerBin, ports: portsOf(config), publicAddress, strangersAddress, log })
    await server.start()
    if (this.#stop.signal.aborted) return server.stop()
    this.#server = server
    const where = server.port === 0 ? 'any port' : `port ${server.port}`
    this.#becomes('open', `Web calls use WebRTC over ${where} (UDP and TCP)`)
    log.info({ port: server.port, publicAddress, worker: workerBin }, this.#sentence)
  }

  #becomes(state: WebRtcState, sentence: string): void {
    this.#state = state
    this.#sentence = sentence
  }
}

function portsOf({ port, webrtcPort }: WebRtcOptions['config']): number[] {
  if (webrtcPort !== undefined) return [webrtcPort]
  if (port === 0) return [0]
  const first = port + PORT_DISTANCE + PORTS_TRIED <= MAX_PORT ? port + PORT_DISTANCE : port - PORT_DISTANCE
  return Array.from({ length: PORTS_TRIED }, (_, i) => first + i)
}

/**
 * Where browsers find this node: the configured address, or that of its PUBLIC_URL when it is not one of its own. Strangers are
 * given that address alone, unless it is an internal one by PUBLIC_URL: then they are in the same network.
 */
async function addressesOf({ publicUrl, publicUrlGiven, webrtcPublicAddress }: WebRtcOptions['config']): Promise<{
  publicAddress: string | undefined
  strangersAddress: string | undefined
}> {
  if (webrtcPublicAddress !== undefined) {
    return { publicAddress: webrtcPublicAddress, strangersAddress: webrtcPublicAddress }
  }
  const nowhere = { address: undefined }
  const { address } = publicUrlGiven
    ? await lookup(new URL(publicUrl).hostname, { family: 4 }).catch(() => nowhere)
    : nowhere
  if (address === undefined) return { publicAddress: undefined, strangersAddress: undefined }
  const own = Object.values(networkInterfaces()).flatMap((infos) => infos?.map((info) => info.address) ?? [])
  return {
    publicAddress: address.startsWith('127.') || own.includes(address) ? undefined : address,
    strangersAddress: isInternalAddress(address) ? undefined : address,
  }
}
