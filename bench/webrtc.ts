/**
 * Web calls over WebRTC beside those over the WebSocket, against an api node that sends back what it hears: how long it is
 * to the agent's first word, how old a packet is that comes back, and what a session costs. `npm run bench -- webrtc [--sessions=50]`.
 */
import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import WebSocket from 'ws'
import { cacheFolder } from '../api/realtime/webrtc/worker-cache.ts'
import { findWorkerProgram } from '../api/realtime/webrtc/worker-program.ts'
import { WebRtcPeer } from '../scripts/webrtc-peer.ts'
import { quantile } from './support/quantile.ts'

const FRAME_MS = 20
const MEASURED_MS = 10_000
const OPUS_BYTES = 80
const PCM_BYTES = 960
/** A frame of one channel in wide band (RFC 6716, section 3.1). */
const OPUS_HEAD = 0x68
const SETUPS = 20
const TARGETS = { setupMs: 800, addedMs: 60, sessionsPerCore: 150 }

type Media = 'webrtc' | 'websocket'

/** One caller: sends 20 ms after 20 ms, each with the time it left, and notes how old it is when it comes back. */
class Caller {
  readonly agesMs: number[] = []
  /** From the click to the agent's first word. */
  readonly setupMs: Promise<number>
  readonly #audible: () => void
  readonly #socket: WebSocket
  readonly #peer: WebRtcPeer | undefined
  #beat: NodeJS.Timeout | undefined

  constructor(port: number, media: Media) {
    const startMs = performance.now()
    const begun = Promise.withResolvers<void>()
    const audible = Promise.withResolvers<void>()
    this.#audible = audible.resolve
    this.setupMs = Promise.all([begun.promise, audible.promise]).then(() => performance.now() - startMs)
    this.#socket = new WebSocket(`ws://127.0.0.1:${port}/?media=${media}`)
    const peer = media === 'webrtc' ? new WebRtcPeer((payload) => this.#back(payload, 1)) : undefined
    this.#peer = peer
    this.#socket.on('error', begun.reject)
    this.#socket.on('message', async (data: Buffer, isBinary) => {
      if (isBinary) return this.#back(data, 0)
      const { type, sdp, reason } = JSON.parse(data.toString()) as Record<string, string>
      if (type === 'webrtc.offer') {
        this.#socket.send(JSON.stringify({ type: 'webrtc.answer', sdp: await peer!.answer(sdp!) }))
      } else if (type === 'session.started') begun.resolve()
      else if (type === 'session.ended') begun.reject(new Error(reason))
    })
  }

  speak(): void {
    const frame = Buffer.alloc(this.#peer === undefined ? PCM_BYTES : OPUS_BYTES, 0)
    const at = this.#peer === undefined ? 0 : 1
    if (at === 1) frame[0] = OPUS_HEAD
    this.#beat = setInterval(() => {
      frame.writeDoubleBE(performance.now(), at)
      if (this.#peer === undefined) this.#socket.send(frame)
      else this.#peer.send(frame)
    }, FRAME_MS)
  }

  close(): void {
    clearInterval(this.#beat)
    this.#peer?.close()
    this.#socket.close(1000)
  }

  #back(payload: Uint8Array, at: number): void {
    if (payload.length < OPUS_BYTES) return
    const leftMs = Buffer.from(payload.buffer, payload.byteOffset, payload.length).readDoubleBE(at)
    if (leftMs === 0) this.#audible()
    else this.agesMs.push(performance.now() - leftMs)
  }
}

export async function run(args: readonly string[]): Promise<void> {
  const { values } = parseArgs({ args: [...args], options: { sessions: { type: 'string', default: '50' } } })
  const sessions = Number(values.sessions)
  const workerBin = await findWorkerProgram({
    named: process.env.PATCHBAY_WEBRTC_WORKER,
    cache: cacheFolder(process.env),
    signal: new AbortController().signal,
    unfit: (path, why) => console.error(`${path}: ${why}`),
  })
  if (workerBin === undefined) throw new Error('No media worker: node scripts/mediasoup-worker/build.ts makes one')
  const node = fork(join(import.meta.dirname, 'webrtc/node.ts'), [workerBin])
  try {
    const [{ port }] = (await once(node, 'message')) as [{ port: number }]
    const results = {
      websocket: await measure(node, port, 'websocket', sessions),
      webrtc: await measure(node, port, 'webrtc', sessions),
    }
    const { webrtc, websocket } = results
    const addedMs = (webrtc.ageP50Ms - websocket.ageP50Ms) / 2
    report('first word p50', webrtc.setupP50Ms, websocket.setupP50Ms, 'ms', `≤ ${TARGETS.setupMs}`)
    report(
      'packet there and back p50',
      webrtc.ageP50Ms,
      websocket.ageP50Ms,
      'ms',
      `≤ ${TARGETS.addedMs} more each way, ${addedMs.toFixed(1)} seen`,
    )
    report('packet there and back p99', webrtc.ageP99Ms, websocket.ageP99Ms, 'ms', '')
    report('packets that came back', 100 * webrtc.back, 100 * websocket.back, '%', '')
    report(
      'api node per session',
      100 * webrtc.nodeCore,
      100 * websocket.nodeCore,
      '% of a core',
      `≤ ${(100 / TARGETS.sessionsPerCore).toFixed(2)}`,
    )
    report('media worker per session', 100 * webrtc.workerCore, 0, '% of a core', '')
  } finally {
    node.disconnect()
  }
  process.exit(0)
}

async function measure(node: ChildProcess, port: number, media: Media, sessions: number) {
  const setups: number[] = []
  for (let i = 0; i < SETUPS; i++) {
    const caller = new Caller(port, media)
    setups.push(await caller.setupMs)
    caller.close()
  }
  const callers = Array.from({ length: sessions }, () => new Caller(port, media))
  await Promise.all(callers.map(({ setupMs }) => setupMs))
  for (const caller of callers) caller.speak()
  await sleep(1_000)
  const before = await used(node)
  for (const { agesMs } of callers) agesMs.length = 0
  await sleep(MEASURED_MS)
  const after = await used(node)
  const ages = callers.flatMap(({ agesMs }) => agesMs)
  for (const caller of callers) caller.close()
  const perSession = (a: number, b: number) => (1_000 * (b - a)) / MEASURED_MS / sessions
  return {
    setupP50Ms: quantile(setups, 0.5),
    ageP50Ms: quantile(ages, 0.5),
    ageP99Ms: quantile(ages, 0.99),
    back: ages.length / ((MEASURED_MS / FRAME_MS) * sessions),
    nodeCore: perSession(before.nodeS, after.nodeS),
    workerCore: perSession(before.workerS, after.workerS),
  }
}

async function used(node: ChildProcess): Promise<{ nodeS: number; workerS: number }> {
  const answer = once(node, 'message') as Promise<[{ nodeS: number; workerS: number }]>
  node.send('used')
  return (await answer)[0]
}

function report(name: string, ours: number, peer: number, unit: string, target: string): void {
  const shown = (value: number) => value.toFixed(2)
  process.stderr.write(
    `${name.padEnd(28)} WebRTC ${shown(ours).padStart(8)}   WebSocket ${shown(peer).padStart(8)} ${unit}   ${target}\n`,
  )
  process.stdout.write(
    `${JSON.stringify({ name, ours, peer, ratio: peer === 0 ? null : ours / peer, unit, target })}\n`,
  )
}
