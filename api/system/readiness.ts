import { type Static, Type } from 'typebox'
import type { Services } from '../services.ts'

const Part = Type.Enum(['ok', 'unreachable'])

export const Readiness = Type.Object({
  status: Type.Enum(['ready', 'not_ready']),
  database: Part,
  redis: Part,
  workers: Type.Integer({ description: 'Voice workers linked to this node.' }),
})

const CHECK_TIMEOUT_MS = 2000

/** Asks each part; one that doesn't answer within 2 s is unreachable. */
export async function isReady({ store, redis, sessions }: Services): Promise<Static<typeof Readiness>> {
  const [database, cache] = await Promise.all([answers(store.pool.query('select 1')), answers(redis.ping())])
  const workers = sessions.workers().length
  return {
    status: database && cache && workers > 0 ? 'ready' : 'not_ready',
    database: database ? 'ok' : 'unreachable',
    redis: cache ? 'ok' : 'unreachable',
    workers,
  }
}

async function answers(asked: Promise<unknown>): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<boolean>((resolve) => {
    timer = setTimeout(resolve, CHECK_TIMEOUT_MS, false)
  })
  const answered = asked.then(
    () => true,
    () => false,
  )
  return Promise.race([answered, late]).finally(() => clearTimeout(timer))
}
