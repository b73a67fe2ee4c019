/**
 * A tenant that asks for all there is beside one that asks for little: what the quiet one waits, alone and then beside it; the
 * longest the api's event loop stood, and one that does nothing beside it; how late a live call's audio came. `npm run bench -- hostile [--minutes=10]`.
 */
import { execFile, fork } from 'node:child_process'
import { once } from 'node:events'
import { getPriority, setPriority } from 'node:os'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs, promisify } from 'node:util'
import { NODE_PRIORITY, setRealtime } from '../runtime/process/realtime.ts'
import { startInstance } from '../scripts/demo/instance.ts'
import { Tenant } from './hostile/tenant.ts'

const MINUTES = 10
/** After so many its page of calls is full: beside the other it reads as much as alone. */
const ROUNDS_BEFORE = 25
const ROUNDS_ALONE = 5
const AUDIO_ALONE_MS = 10_000
const LOOP_BUDGET_MS = 20
/** 20 ms frames: one that comes later than this after the one before missed its deadline by 40 ms. */
const LATE_AUDIO_MS = 60
const LIMIT = 2
/** The gauge counts from one look to the next, which are this far apart when nothing is late. */
const LOOKS_MS = 10
const STOP_TIMEOUT_MS = 30_000
const HIGHEST_PRIORITY = -20
const LISTENER_STEPS_UP = 5

export async function run(args: readonly string[]): Promise<void> {
  const { values } = parseArgs({ args: [...args], options: { minutes: { type: 'string', default: String(MINUTES) } } })
  const minutes = Number(values.minutes)
  if (!(minutes > 0)) throw new Error(`--minutes must be a number above 0, not "${values.minutes}"`)
  const adminPort = 21_000 + (process.pid % 4_000)
  const instance = await startInstance({
    PATCHBAY_ADMIN_PORT: String(adminPort),
    PATCHBAY_WORKER_CAPACITY: '20',
    PATCHBAY_LOG_LEVEL: 'error',
  })
  const abort = new AbortController()
  const attacker = { stop: async (): Promise<Record<string, number>> => ({}) }
  try {
    // Who listens and looks stands elsewhere: it is on time where the api's loop is.
    await listenFirst()
    const quiet = await Tenant.signUp(instance.url, 'quiet')
    await quiet.web()
    await measured(quiet, ROUNDS_BEFORE)
    const alone = await measured(quiet, ROUNDS_ALONE)
    const audio = quiet.listen(await quiet.talkingAgent(), abort.signal)
    const before = await childrenOf(instance.pid)
    await sleep(AUDIO_ALONE_MS)
    const quietGapsMs = [...audio.gapsMs]
    await loopDelay(adminPort)

    process.stderr.write('the hostile tenant begins\n')
    attacker.stop = await startAttacker(instance.url)
    const idleDelaysMs: number[] = []
    const idle = fork(new URL('./hostile/idle-loop.ts', import.meta.url))
    abort.signal.addEventListener('abort', () => idle.disconnect())
    idle.on('message', (ms: number) => idleDelaysMs.push(ms))
    const delaysMs: number[] = []
    const watching = (async () => {
      while (!abort.signal.aborted) {
        delaysMs.push(await loopDelay(adminPort))
        await sleep(1_000, undefined, { signal: abort.signal })
      }
    })().catch(() => {})
    const beside = await measured(quiet, Number.POSITIVE_INFINITY, performance.now() + minutes * 60_000)
    const done = await attacker.stop()
    abort.abort()
    await Promise.all([watching, audio.over])

    console.log(
      `${minutes} min beside: ${Object.entries(done)
        .map(([name, n]) => `${name} ${n}`)
        .join(', ')}`,
    )
    console.log('what             alone median   beside median   beside worst   times')
    for (const [what, own] of Object.entries(alone)) {
      const shared = beside[what] ?? []
      const times = median(shared) / median(own)
      const cells = [median(own), median(shared), Math.max(...shared)].map((ms) => `${ms.toFixed(0)} ms`.padStart(15))
      console.log(`${what.padEnd(14)}${cells.join('')}   ${times.toFixed(1)}${times > LIMIT ? ' (over)' : ''}`)
    }
    console.log(`audio before: ${heard(quietGapsMs)}`)
    console.log(`api loop: ${stood(delaysMs)}`)
    console.log(`a loop that does nothing: ${stood(idleDelaysMs)}`)
    console.log(`audio beside: ${heard(audio.gapsMs.slice(quietGapsMs.length))}`)
    const { status } = await fetch(`${instance.url}/ready`)
    const after = new Set(await childrenOf(instance.pid))
    const ended = before.filter((pid) => !after.has(pid))
    console.log(`/ready: ${status}; ${ended.length} of ${before.length + 1} processes ended`)
  } finally {
    abort.abort()
    await attacker.stop().catch(() => {})
    await instance.stop()
  }
}

async function listenFirst(): Promise<void> {
  try {
    setPriority(Math.max(HIGHEST_PRIORITY, getPriority() - LISTENER_STEPS_UP))
  } catch {
    // Not allowed: what it hears may be later than it came.
  }
  await setRealtime(process.pid, NODE_PRIORITY)
}

/** Of seconds, each with the longest its loop stood. */
function stood(delaysMs: readonly number[]): string {
  const longestMs = Math.max(0, ...delaysMs)
  const over = longestMs > LOOP_BUDGET_MS ? ' (over)' : ''
  const seconds = delaysMs.filter((ms) => ms > LOOP_BUDGET_MS).length
  return `longest delay ${longestMs.toFixed(1)} ms of ${LOOP_BUDGET_MS}${over}; above in ${seconds} of ${delaysMs.length} seconds, median ${median(delaysMs).toFixed(1)} ms`
}

/** Of 20 ms frames, each named by how long after the one before it came. */
function heard(gapsMs: readonly number[]): string {
  const late = gapsMs.filter((ms) => ms > LATE_AUDIO_MS).length
  return `${gapsMs.length} frames of live calls, ${late} later than ${LATE_AUDIO_MS} ms, worst ${Math.max(0, ...gapsMs).toFixed(0)} ms`
}

/** Resolves once the hostile tenant is there, with what ends it and tells what it did. */
async function startAttacker(url: string): Promise<() => Promise<Record<string, number>>> {
  const child = fork(new URL('./hostile/attacker.ts', import.meta.url), [url], { detached: true })
  const exited = once(child, 'exit')
  await Promise.race([once(child, 'message'), exited.then(([code]) => Promise.reject(new Error(`It ended: ${code}`)))])
  let ended: Promise<Record<string, number>> | undefined
  return () => {
    ended ??= (async () => {
      const told = once(child, 'message')
      child.send('stop')
      const timer = setTimeout(() => child.kill('SIGKILL'), STOP_TIMEOUT_MS)
      const [done] = await Promise.race([told, exited.then(() => [{}])])
      await exited
      clearTimeout(timer)
      return done as Record<string, number>
    })()
    return ended
  }
}

/** Ids of the voice workers and services it runs. */
async function childrenOf(parent: number | undefined): Promise<number[]> {
  const { stdout } = await promisify(execFile)('ps', ['-A', '-o', 'pid=,ppid='])
  const rows = stdout.split('\n').map((line) => line.trim().split(/\s+/).map(Number))
  return rows.flatMap(([pid = 0, ppid]) => (ppid === parent ? [pid] : []))
}

type Waits = Record<string, number[]>

/** Rounds of what the quiet tenant does, one thing after the other: so many, and none that begins after `endMs`. */
async function measured(quiet: Tenant, rounds: number, endMs = Number.POSITIVE_INFINITY): Promise<Waits> {
  const waits: Waits = { page: [], document: [], 'web session': [], call: [] }
  const time = async <T>(what: string, act: () => Promise<T>): Promise<T> => {
    const startMs = performance.now()
    const result = await act()
    const waitedMs = performance.now() - startMs
    waits[what]?.push(waitedMs)
    process.stderr.write(`${what} ${waitedMs.toFixed(0)} ms\n`)
    return result
  }
  for (let round = 0; round < rounds && performance.now() < endMs; round++) {
    for (let i = 0; i < 5; i++) await time('page', () => quiet.get('/calls/logs?page=1'))
    // Each of an agent of its own: what was taught before is no part of it.
    const pupil = await quiet.agent({})
    await time('document', () => quiet.document(pupil, 'Eleven byte'))
    await time('web session', () => quiet.web())
    // One call at a time: who asks for little waits for no seat of its own earlier calls.
    await quiet.callsOver(await time('call', () => quiet.callOneRow()))
  }
  return waits
}

const median = (values: readonly number[]): number =>
  [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN

/** The longest the loop stood since the last look, in ms. */
async function loopDelay(adminPort: number): Promise<number> {
  const text = await (await fetch(`http://127.0.0.1:${adminPort}/metrics`)).text()
  const seconds = Number(/^nodejs_eventloop_lag_max_seconds\S* ([\d.e+-]+)$/m.exec(text)?.[1] ?? 0)
  return Math.max(0, seconds * 1_000 - LOOKS_MS)
}
