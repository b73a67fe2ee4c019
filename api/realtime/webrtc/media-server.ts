import { networkInterfaces } from 'node:os'
import { join } from 'node:path'
import type { types } from 'mediasoup'
import { boundary } from '../../../runtime/lib/async/boundary.ts'
import type { Logger } from '../../../runtime/process/log.ts'
import { asProcess } from '../../../runtime/process/own-act.ts'
import { NODE_PRIORITY, runInRealtimeToo } from '../../../runtime/process/realtime.ts'
import { MediaTransport, type MediaTransportEvents, OPUS } from './media-transport.ts'

const LAUNCHER = join(import.meta.dirname, 'launch-worker.sh')
const RESTART_MS = 100
const MOST_RESTART_MS = 5_000

interface MediaServerOptions {
  /** mediasoup's worker program. */
  workerBin: string
  /** UDP and TCP, the first that is free; 0: any. */
  ports: readonly number[]
  /** Under which browsers reach this host; undefined: its own addresses. */
  publicAddress: string | undefined
  /** The one address that offers to strangers name; undefined: they name all. */
  strangersAddress?: string | undefined
  log: Logger
}

interface TransportTerms {
  /** What is sent has two channels. */
  stereo?: boolean
  /** The client is anybody on the internet: its offer says nothing of the network behind the public address. */
  toStranger?: boolean
}

/**
 * mediasoup's worker of this node and its one port of all calls. A worker that dies is replaced at once; owners of a
 * transport there are notified by `lost`, and open another one.
 */
export class MediaServer {
  readonly #options: MediaServerOptions
  #worker: types.Worker | undefined
  #router: types.Router | undefined
  #server: types.WebRtcServer | undefined
  #restartMs = RESTART_MS
  /** Workers that died. */
  restarts = 0
  #port: number | undefined
  #timer: NodeJS.Timeout | undefined
  #stopped = false
  #waiting: (() => void)[] = []

  constructor(options: MediaServerOptions) {
    this.#options = options
  }

  /** Rejects when the worker doesn't run or the port can't be had. */
  async start(): Promise<void> {
    const { workerBin, log } = this.#options
    const { createWorker } = await import('mediasoup')
    const worker = await asProcess(() => spawnWorker(createWorker, workerBin))
    worker.once('subprocessclose', boundary('webrtc', runInRealtimeToo(worker.pid, NODE_PRIORITY)))
    worker.on(
      'died',
      boundary('webrtc', (err) => {
        if (this.#stopped) return
        log.error({ err }, 'The media worker died; another one takes its calls')
        this.restarts++
        this.#router = undefined
        this.#again()
      }),
    )
    try {
      this.#server = await this.#listen(worker)
      this.#router = await worker.createRouter({ mediaCodecs: [OPUS] })
    } catch (error) {
      worker.removeAllListeners('died')
      worker.close()
      throw error
    }
    if (this.#stopped) return worker.close()
    this.#worker = worker
    this.#restartMs = RESTART_MS
    for (const wake of this.#waiting.splice(0)) wake()
  }

  get isOpen(): boolean {
    return this.#router !== undefined
  }

  /** The port of all calls; 0: each address has one of its own. */
  get port(): number | undefined {
    return this.#port
  }

  /** The addresses announced to browsers. */
  get addresses(): string[] {
    const told = listenInfos(0, this.#options.publicAddress).flatMap(
      ({ ip, announcedAddress }) => announcedAddress ?? ip,
    )
    return [...new Set(told)]
  }

  get workerPid(): number | undefined {
    return this.#worker?.pid
  }

  /** Seconds of a core that the worker has used. Rejects when it dies meanwhile. */
  async cpuSeconds(): Promise<number> {
    const usage = await this.#worker?.getResourceUsage()
    return usage === undefined ? 0 : (usage.ru_utime + usage.ru_stime) / 1_000
  }

  /** Waits for a worker where one is about to be there. */
  async open(events: MediaTransportEvents, terms: TransportTerms = {}): Promise<MediaTransport> {
    const { stereo = false, toStranger = false } = terms
    while (this.#router === undefined && !this.#stopped) await new Promise<void>((wake) => this.#waiting.push(wake))
    if (this.#router === undefined || this.#server === undefined) throw new Error('The media server is stopped')
    const onlyAddress = toStranger ? this.#options.strangersAddress : undefined
    return MediaTransport.open(this.#router, this.#server, events, { stereo, onlyAddress })
  }

  /** The port once taken stays: browsers know it. */
  async #listen(worker: types.Worker): Promise<types.WebRtcServer> {
    const ports = this.#port === undefined ? this.#options.ports : [this.#port]
    for (const [i, port] of ports.entries()) {
      try {
        const server = await worker.createWebRtcServer({ listenInfos: listenInfos(port, this.#options.publicAddress) })
        this.#port = port
        return server
      } catch (error) {
        if (i === ports.length - 1) throw error
      }
    }
    throw new Error('No port to listen on')
  }

  stop(): void {
    this.#stopped = true
    clearTimeout(this.#timer)
    this.#router = undefined
    this.#worker?.close()
    for (const wake of this.#waiting.splice(0)) wake()
  }

  #again(): void {
    this.start().catch((err) => {
      if (this.#stopped) return
      this.#options.log.error({ err }, 'The media worker could not be started again')
      this.#restartMs = Math.min(2 * this.#restartMs, MOST_RESTART_MS)
      this.#timer = setTimeout(
        boundary('webrtc', () => this.#again()),
        this.#restartMs,
      )
    })
  }
}

/**
 * The library hands the child all of our environment, secrets included, and closes its workers at SIGINT and SIGTERM, where we
 * let calls end first: the environment is put aside while it starts, and its listeners are taken off.
 */
function spawnWorker(createWorker: typeof import('mediasoup').createWorker, bin: string): Promise<types.Worker> {
  const before = { ...process.env }
  const listeners = (['SIGINT', 'SIGTERM'] as const).map((name) => [name, process.listeners(name)] as const)
  for (const name of Object.keys(process.env)) delete process.env[name]
  try {
    Object.assign(process.env, { PATH: before.PATH ?? '', PATCHBAY_MEDIA_WORKER: bin })
    return createWorker({ workerBin: LAUNCHER, logLevel: 'error' })
  } finally {
    for (const name of Object.keys(process.env)) delete process.env[name]
    Object.assign(process.env, before)
    for (const [name, known] of listeners) {
      for (const listener of process.listeners(name)) {
        if (!known.includes(listener)) process.removeListener(name, listener as NodeJS.SignalsListener)
      }
    }
  }
}

/** Every address of this host, this machine's own included: browsers beside it reach no other. */
function listenInfos(port: number, publicAddress: string | undefined): types.TransportListenInfo[] {
  const addresses = Object.values(networkInterfaces())
    .flatMap((infos) => infos ?? [])
    .filter(({ family, internal }) => family === 'IPv4' && !internal)
    .map(({ address }) => address)
  const announced = publicAddress === undefined ? {} : { announcedAddress: publicAddress, exposeInternalIp: true }
  return [...new Set([...addresses, '127.0.0.1'])].flatMap((ip) =>
    (['udp', 'tcp'] as const).map((protocol) => ({
      protocol,
      ip,
      ...(port === 0 ? {} : { port }),
      ...(ip === '127.0.0.1' ? {} : announced),
    })),
  )
}
