import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import pg from 'pg'
import { startInstance } from '../../scripts/demo/instance.ts'
import { Tenant } from '../hostile/tenant.ts'
import type { CallerFigures } from './callers.ts'
import { openServices } from './services.ts'

/** What the benchmark of events stands on: services of its own, a workspace with a webhook, and its receiver. */
export interface Stand {
  /** Has so many callers listen to an agent that talks, until the end. */
  call(calls: number): void
  /** Asks the callers. */
  askCallers<T extends 'forget' | 'figures'>(what: T): Promise<T extends 'figures' ? CallerFigures : undefined>
  /** Writes so many events of the workspace, in one transaction; resolves with their ids once it is committed. */
  tell(count: number): Promise<string[]>
  /** Asks the receiver. */
  ask<T>(what: 'figures' | 'ids' | 'forget'): Promise<T>
  stop(): Promise<void>
}

export async function openStand(): Promise<Stand> {
  const services = await openServices()
  const { PATCHBAY_DATA_DIR: _, ...env } = services.env
  const instance = await startInstance(env)
  const receiver = fork(join(import.meta.dirname, 'receiver.ts'))
  const [{ port }] = (await once(receiver, 'message')) as [{ port: number }]
  const tenant = await Tenant.signUp(instance.url, 'quiet')
  const hook = { url: `http://127.0.0.1:${port}/`, types: ['do_not_call.added'] }
  const made = await tenant.post('/webhooks', hook)
  if (made.status !== 201) throw new Error(`The webhook was refused: ${JSON.stringify(made.body)}`)
  const pool = new pg.Pool({ connectionString: env.DATABASE_URL, max: 4 })
  const callers = fork(join(import.meta.dirname, 'callers.ts'))
  const ask = async <T>(child: ChildProcess, what: string): Promise<T> => {
    child.send(what)
    if (what === 'forget') return undefined as never
    const [answer] = await once(child, 'message')
    return answer
  }
  const { rows } = await pool.query<{ workspace_id: string }>('select workspace_id from webhooks')
  return {
    async tell(count) {
      const told = await pool.query<{ id: string }>(
        `insert into workspace_events (workspace_id, type, data)
         select $1, 'do_not_call.added', jsonb_build_object('phone_number', '+14155550199', 'reason', 'n ' || n,
           'source', 'api', 'call_log_id', null) from generate_series(1, $2) n returning id`,
        [rows[0]?.workspace_id, count],
      )
      return told.rows.map(({ id }) => id)
    },
    ask: (what) => ask(receiver, what),
    askCallers: (what) => ask(callers, what),
    call: (calls) => void callers.send({ url: instance.url, calls }),
    async stop() {
      callers.kill()
      receiver.kill()
      await pool.end()
      await instance.stop()
      await services.stop()
    },
  }
}
