import { once } from 'node:events'
import { readdir, readFile } from 'node:fs/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import { Worker } from 'node:worker_threads'
import type { Seen } from './watch-thread.ts'
import type { World } from './world.ts'

/** What may be seen at most. By hand on a quiet machine the limits of a caller hold; beside other tests those of a hang. */
export interface Limits {
  loopMs: number
  /** Answers over 100 ms one after the other. */
  runs: number
  gapMs: number
  /** How far memory may be above what it was, a minute later. */
  memoryMiB: number
}

export const QUIET_MACHINE: Limits = { loopMs: 100, runs: 1, gapMs: 100, memoryMiB: 200 }
export const BUSY_MACHINE: Limits = { loopMs: 3_000, runs: 10, gapMs: 3_000, memoryMiB: 500 }

const CALL_MS = 500
const CALL_WAIT_MS = 20_000
const MEMORY_WAIT_MS = 60_000
const MEMORY_LOOK_MS = 2_000

/** The oracle: whether an installation, and a tenant of it who did nothing, noticed anything. */
export class Watch {
  readonly #world: World
  readonly #thread: Worker
  readonly #limits: Limits
  #processes: readonly number[] = []
  #residentMiB = 0

  private constructor(world: World, limits: Limits) {
    this.#world = world
    this.#limits = limits
    this.#thread = new Worker(new URL('./watch-thread.ts', import.meta.url), {
      workerData: {
        url: world.instance.url,
        tokenUrl: `${world.instance.url}/calls/generate-token?agent_id=${world.quietAgentId}`,
        cookies: world.quiet.cookies,
      },
    })
  }

  static async start(world: World, limits: Limits): Promise<Watch> {
    const watch = new Watch(world, limits)
    await watch.#begin()
    return watch
  }

  async #begin(): Promise<void> {
    await sleep(3_000)
    await this.#seen()
    this.#processes = await treeOf(this.#world.instance.child.pid)
    this.#residentMiB = await residentMiB(this.#processes)
  }

  async #seen(): Promise<Seen> {
    const answer = once(this.#thread, 'message')
    this.#thread.postMessage('look')
    return (await answer)[0] as Seen
  }

  /** What was seen since the last look, and what of it is over a limit. */
  async look(): Promise<{ seen: Seen; failures: string[] }> {
    const { child } = this.#world.instance
    const seen = await this.#seen()
    const failures: string[] = []
    if (child.exitCode !== null || child.signalCode !== null) {
      failures.push(`the installation ended: ${child.exitCode ?? child.signalCode}`)
    } else {
      const alive = new Set(await treeOf(child.pid))
      const ended = this.#processes.filter((pid) => !alive.has(pid))
      if (ended.length > 0) failures.push(`${ended.length} of its processes ended`)
      this.#processes = [...alive]
    }
    if (seen.hung > 0) failures.push(`/health gave no answer ${seen.hung} times`)
    if (seen.longestMs > this.#limits.loopMs && seen.over100 > this.#limits.runs) {
      failures.push(`the api's loop stood ${seen.longestMs.toFixed(0)} ms, ${seen.over100} times over 100`)
    }
    if (seen.run > this.#limits.runs) failures.push(`the api's loop stood for ${seen.run} probes in a row`)
    if (seen.gapMs > this.#limits.gapMs) failures.push(`the quiet tenant heard a gap of ${seen.gapMs.toFixed(0)} ms`)
    for (const cut of seen.cut) failures.push(`a session of the quiet tenant: ${cut}`)
    const missing = await this.#missing().catch((error: Error) => `a call of the quiet tenant failed: ${error.message}`)
    if (missing !== undefined) failures.push(missing)
    return { seen, failures }
  }

  /** Has the quiet tenant hold a call; resolves with what is missing of it: its end, or its log. */
  async #missing(): Promise<string | undefined> {
    const { quiet } = this.#world
    const socket = await quiet.openSession()
    try {
      const callId = await new Promise<string>((resolve, reject) => {
        const timer = setTimeout(() => reject(new Error('it did not begin')), CALL_WAIT_MS)
        socket.on('message', (data, isBinary) => {
          const message = isBinary ? {} : (JSON.parse(String(data)) as { type?: string; call_log_id?: string })
          if (message.type !== 'session.started' || message.call_log_id === undefined) return
          clearTimeout(timer)
          resolve(message.call_log_id)
        })
        socket.on('error', reject)
      })
      socket.send(JSON.stringify({ type: 'text', text: 'Hello.' }))
      await sleep(CALL_MS)
      socket.send(JSON.stringify({ type: 'end' }))
      for (const endMs = performance.now() + CALL_WAIT_MS; performance.now() < endMs; await sleep(200)) {
        const { status, body } = await quiet.get(`/calls/${callId}/events`)
        const types = JSON.stringify(body)
        if (status === 200 && types.includes('"ended"')) return undefined
      }
      return `the log of a call of the quiet tenant has no end after ${CALL_WAIT_MS / 1_000} s`
    } finally {
      socket.terminate()
    }
  }

  /** Waits up to a minute for the memory to be back; resolves with the figures in MiB. */
  async memory(): Promise<{ beforeMiB: number; afterMiB: number; failures: string[] }> {
    const endMs = performance.now() + MEMORY_WAIT_MS
    const limitMiB = this.#residentMiB * 1.5 + this.#limits.memoryMiB
    for (;;) {
      const afterMiB = await residentMiB(await treeOf(this.#world.instance.child.pid))
      const isBack = afterMiB <= limitMiB
      if (isBack || performance.now() > endMs) {
        const failures = isBack ? [] : [`memory is at ${afterMiB} MiB a minute later, ${this.#residentMiB} before`]
        return { beforeMiB: this.#residentMiB, afterMiB, failures }
      }
      await sleep(MEMORY_LOOK_MS)
    }
  }

  async close(): Promise<void> {
    await this.#thread.terminate()
  }
}

/** Node processes of the installation: its database and Redis come and go by themselves. */
async function treeOf(root: number | undefined): Promise<number[]> {
  if (root === undefined) return []
  const parents = new Map<number, number>()
  const names = new Map<number, string>()
  for (const name of await readdir('/proc')) {
    if (!/^\d+$/.test(name)) continue
    const stat = await readFile(`/proc/${name}/stat`, 'utf8').catch(() => '')
    const [, , parent] = stat.slice(stat.lastIndexOf(')')).split(' ')
    parents.set(Number(name), Number(parent))
    names.set(Number(name), await readFile(`/proc/${name}/cmdline`, 'utf8').catch(() => ''))
  }
  const isBelow = (pid: number): boolean =>
    pid === root || (parents.has(pid) && pid > 1 && isBelow(parents.get(pid) ?? 0))
  const isRole = (pid: number): boolean =>
    / (start|voice|api|jobs)( |$)/.test((names.get(pid) ?? '').replaceAll('\0', ' '))
  return [...parents.keys()].filter((pid) => isBelow(pid) && isRole(pid))
}

async function residentMiB(pids: readonly number[]): Promise<number> {
  let kiB = 0
  for (const pid of pids) {
    const status = await readFile(`/proc/${pid}/status`, 'utf8').catch(() => '')
    kiB += Number(/VmRSS:\s+(\d+)/.exec(status)?.[1] ?? 0)
  }
  return Math.round(kiB / 1024)
}
