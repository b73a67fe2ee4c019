/**
 * Web calls over WebRTC beside those over the WebSocket, against an api node that sends back what it hears: how long it is
 * to the agent's first word, how old a packet is that comes back, and what a session costs. Then over a line that loses 5 % each
 * way and takes 50 ms each way (a relay between client and server, bench/webrtc/bad-line.ts) beside a clean one: that, and what is
 * lost and understood. `npm run bench -- webrtc [--sessions=50] [--only=cost|line]`.
 */
import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { cacheFolder } from '../api/realtime/webrtc/worker-cache.ts'
import { findWorkerProgram } from '../api/realtime/webrtc/worker-program.ts'
import { FRAME_MS } from '../runtime/media/frame.ts'
import { quantile } from './support/quantile.ts'
import { Caller, type Media } from './webrtc/caller.ts'
import { measureLine } from './webrtc/lossy.ts'

const MEASURED_MS = 10_000
const SETUPS = 20
/** Each way. */
const LOSS = 0.05
const DELAY_MS = 50
const TARGETS = { setupMs: 800, addedMs: 60, sessionsPerCore: 150 }

export async function run(args: readonly string[]): Promise<void> {
  const { values } = parseArgs({
    args: [...args],
    options: { sessions: { type: 'string', default: '50' }, only: { type: 'string' } },
  })
  const sessions = Number(values.sessions)
  const workerBin = await findWorkerProgram({
    named: process.env.PATCHBAY_WEBRTC_WORKER,
    cache: cacheFolder(process.env),
    signal: new AbortController().signal,
    unfit: (path, why) => console.error(`${path}: ${why}`),
  })
  if (workerBin === undefined) throw new Error('No media worker: node scripts/mediasoup-worker/build.ts makes one')
  const node = fork(join(import.meta.dirname, 'webrtc/node.ts'), [workerBin])
  node.once('exit', (code) => {
    process.stderr.write(`The node ended with code ${code}\n`)
    process.exit(1)
  })
  try {
    const [{ port }] = (await once(node, 'message')) as [{ port: number }]
    if (values.only !== 'line') await cost(node, port, sessions)
    if (values.only !== 'cost') await lines(node, port)
  } finally {
    node.removeAllListeners('exit')
    node.disconnect()
  }
  process.exit(0)
}

async function cost(node: ChildProcess, port: number, sessions: number): Promise<void> {
  const websocket = await measure(node, port, 'websocket', sessions)
  const webrtc = await measure(node, port, 'webrtc', sessions)
  const addedMs = (webrtc.ageP50Ms - websocket.ageP50Ms) / 2
  const each = `≤ ${TARGETS.addedMs} more each way, ${addedMs.toFixed(1)} seen`
  const core = `≤ ${(100 / TARGETS.sessionsPerCore).toFixed(2)}`
  const report = reporter('WebRTC', 'WebSocket')
  report('first word p50', webrtc.setupP50Ms, websocket.setupP50Ms, 'ms', `≤ ${TARGETS.setupMs}`)
  report('packet there and back p50', webrtc.ageP50Ms, websocket.ageP50Ms, 'ms', each)
  report('packet there and back p99', webrtc.ageP99Ms, websocket.ageP99Ms, 'ms', '')
  report('packets that came back', 100 * webrtc.back, 100 * websocket.back, '%', '')
  report('api node per session', 100 * webrtc.nodeCore, 100 * websocket.nodeCore, '% of a core', core)
  report('media worker per session', 100 * webrtc.workerCore, 0, '% of a core', '')
}

async function lines(node: ChildProcess, port: number): Promise<void> {
  const clean = await measureLine(node, port, { loss: 0, delayMs: 0, random: Math.random })
  const bad = await measureLine(node, port, { loss: LOSS, delayMs: DELAY_MS, random: Math.random })
  const report = reporter(`${100 * LOSS} %, ${2 * DELAY_MS} ms`, 'clean line')
  report('first word p50', bad.firstWordP50Ms, clean.firstWordP50Ms, 'ms', '')
  report('first word p95', bad.firstWordP95Ms, clean.firstWordP95Ms, 'ms', '')
  report('packet there and back p50', bad.ageP50Ms, clean.ageP50Ms, 'ms', '')
  report('packet there and back p99', bad.ageP99Ms, clean.ageP99Ms, 'ms', '')
  report('packets that came back', 100 * bad.back, 100 * clean.back, '%', '')
  report("caller's packets lost", 100 * bad.lost, 100 * clean.lost, '%', '')
  report('of them made up by the next', 100 * bad.lostAlone, 100 * clean.lostAlone, '%', 'the rest is concealed')
  report('longest run of lost packets', bad.longestRun, clean.longestRun, 'packets', '')
  report("caller's audio too late", bad.lateMs, clean.lateMs, 'ms', '')
  report('words heard right', 100 * bad.understood, 100 * clean.understood, '%', '')
  report('mean opinion score', bad.mos, clean.mos, '', 'E-model, without what is made up for')
}

async function measure(node: ChildProcess, port: number, media: Media, sessions: number) {
  const setups: number[] = []
  for (let i = 0; i < SETUPS; i++) {
    const caller = new Caller({ port, media })
    setups.push(await caller.setupMs)
    caller.close()
  }
  const callers = Array.from({ length: sessions }, () => new Caller({ port, media }))
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

function reporter(title: string, peerTitle: string) {
  return (name: string, ours: number, peer: number, unit: string, target: string): void => {
    const shown = (value: number) => value.toFixed(2).padStart(8)
    process.stderr.write(
      `${name.padEnd(28)} ${title} ${shown(ours)}   ${peerTitle} ${shown(peer)} ${unit}   ${target}\n`,
    )
    const ratio = peer === 0 ? null : ours / peer
    process.stdout.write(`${JSON.stringify({ name, line: title, ours, peer, ratio, unit, target })}\n`)
  }
}
