import { type ChildProcess, fork, spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { nodeOptionsOf } from '../../cli/node-options.ts'
import { freePort } from '../../scripts/demo/free-port.ts'
import { Tenant } from '../hostile/tenant.ts'

/** Webhooks under kill -9 of the processes that write events and that send them. */

const MAIN = join(import.meta.dirname, '../../main.ts')
const READY_TIMEOUT_MS = 120_000
/** Without any that came: deliveries that were under way are taken again after 30 s. */
const SETTLE_MS = 180_000
const WRITERS = 4
const TYPE = 'do_not_call.added'

export interface KillPlan {
  /** Settings of the roles, those of a Postgres and a Redis among them. */
  env: Readonly<Record<string, string>>
  kills: number
  /** The killing ends after this, however many there were. */
  mostMs: number
  /** 0 to 1. */
  random(): number
  progress?(line: string): void
}

export interface KillFigures {
  kills: Readonly<Record<Victim, number>>
  /** Events that the database has, and those of them that the receiver never got. */
  committed: number
  missing: number
  /** Got, and not in the database: told without having happened. */
  untrue: number
}

type Victim = 'api' | 'jobs'

/**
 * Has an api write events while it and the job worker are killed at random moments, one at a time, and counts what came to
 * the receiver.
 */
export async function deliverUnderKills({ env, kills, mostMs, random, progress }: KillPlan): Promise<KillFigures> {
  const receiver = fork(join(import.meta.dirname, 'receiver.ts'))
  const pool = new pg.Pool({ connectionString: env.DATABASE_URL, max: 2 })
  const running = new Map<Victim, Role>()
  const stopping = new AbortController()
  try {
    const [{ port }] = (await once(receiver, 'message')) as [{ port: number }]
    const settings = { ...env, PATCHBAY_TOOLS_ALLOW_NET: '127.0.0.1', PATCHBAY_SIP_PORT: '0', PATCHBAY_WEBRTC: 'off' }
    const ports = { api: await freePort(), jobs: await freePort() }
    const start = async (victim: Victim) => running.set(victim, await startRole(victim, settings, ports))
    await start('api')
    await start('jobs')
    const tenant = await Tenant.signUp(`http://127.0.0.1:${ports.api}`, 'quiet')
    const made = await tenant.post('/webhooks', { url: `http://127.0.0.1:${port}/`, types: [TYPE] })
    if (made.status !== 201) throw new Error(`The webhook was refused: ${JSON.stringify(made.body)}`)
    const writing = Promise.all(Array.from({ length: WRITERS }, (_, i) => write(tenant, i, stopping.signal)))

    const killed = { api: 0, jobs: 0 }
    const untilMs = performance.now() + mostMs
    for (let n = 1; n <= kills && performance.now() < untilMs; n++) {
      await sleep(random() * 1_500)
      const victim = random() < 0.5 ? 'api' : 'jobs'
      await running.get(victim)?.kill()
      killed[victim]++
      await start(victim)
      if (n % 10 === 0) progress?.(`${n} kills`)
    }
    stopping.abort()
    await writing
    return { kills: killed, ...(await settled(pool, receiver)) }
  } finally {
    stopping.abort()
    await Promise.all([...running.values()].map((role) => role.kill()))
    receiver.kill()
    await pool.end()
  }
}

/** Adds numbers to the list of those nobody calls; what fails, because the api is gone, is not asked again. */
async function write(tenant: Tenant, writer: number, signal: AbortSignal): Promise<void> {
  for (let n = 0; !signal.aborted; n++) {
    const phone_number = `+1415${String(2_000_000 + writer * 1_000_000 + n)}`
    await tenant.post('/do-not-call', { phone_number }, AbortSignal.timeout(10_000)).catch(() => sleep(50))
    await sleep(5)
  }
}

async function settled(pool: pg.Pool, receiver: ChildProcess): Promise<Omit<KillFigures, 'kills'>> {
  let untilMs = performance.now() + SETTLE_MS
  let least = Number.POSITIVE_INFINITY
  for (;;) {
    const { rows } = await pool.query<{ id: string }>('select id from workspace_events where type = $1', [TYPE])
    receiver.send('ids')
    const [{ ids }] = (await once(receiver, 'message')) as [{ ids: string[] }]
    const [written, got] = [new Set(rows.map(({ id }) => id)), new Set(ids)]
    const missing = lacking(written, got)
    if (missing < least) {
      least = missing
      untilMs = performance.now() + SETTLE_MS
    }
    if (missing === 0 || performance.now() > untilMs) {
      return { committed: written.size, missing, untrue: lacking(got, written) }
    }
    await sleep(500)
  }
}

const lacking = (all: ReadonlySet<string>, of: ReadonlySet<string>): number =>
  [...all].filter((id) => !of.has(id)).length

interface Role {
  /** As `kill -9` does; resolves once it is gone. */
  kill(): Promise<void>
}

/** Resolves once it is ready. */
async function startRole(
  role: Victim,
  env: Readonly<Record<string, string>>,
  ports: Readonly<Record<Victim, number>>,
): Promise<Role> {
  const { PATH = '', HOME = '' } = process.env
  const admin = await freePort()
  const child = spawn('env', ['-u', 'NODE_OPTIONS', process.execPath, ...nodeOptionsOf([role]), MAIN, role], {
    stdio: ['ignore', 'ignore', 'inherit'],
    env: {
      ...{ PATH, HOME, PATCHBAY_ENV_FILE: 'none', PORT: String(ports.api), PATCHBAY_HOST: '127.0.0.1', ...env },
      ...(role === 'api' ? { PATCHBAY_ADMIN_PORT: String(admin) } : { PATCHBAY_JOBS_ADMIN_PORT: String(admin) }),
    },
  })
  const exited = once(child, 'exit')
  const kill = async (): Promise<void> => {
    child.kill('SIGKILL')
    await exited
  }
  const untilMs = performance.now() + READY_TIMEOUT_MS
  for (;;) {
    // An api without a voice worker is never ready; it answers.
    const path = role === 'api' ? 'health' : 'ready'
    const answer = await fetch(`http://127.0.0.1:${admin}/${path}`).catch(() => undefined)
    if (answer?.ok) return { kill }
    if (child.exitCode !== null) throw new Error(`The role ${role} ended with ${child.exitCode}`)
    if (performance.now() > untilMs) {
      await kill()
      throw new Error(`The role ${role} was not ready in time`)
    }
    await sleep(50)
  }
}
