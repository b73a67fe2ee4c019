import { Gauge, type Registry } from 'prom-client'
import { PatchbayError } from '../../runtime/lib/errors.ts'
import type { RedisClient } from '../../store/redis/client.ts'
import { countSlots, listPools, listWorkers } from '../../store/redis/slots.ts'
import {
  listPoolRules,
  POOL_KINDS,
  type PoolKind,
  removePoolRule,
  setPoolRule,
} from '../../store/workspaces/worker-pools.ts'
import { defineRoute } from '../route.ts'
import { type Fault, ValidationError } from '../schema.ts'
import { Detail } from '../workspaces/schema.ts'
import { Pools, Rule } from './pools.ts'

/** Pools of voice workers: which one serves which calls, and their seats. */

const common = { auth: 'jwt', role: 'operator', tag: 'Operator' } as const
const UUID = /^[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}$/
const NUMBER_HEAD = /^\+[1-9]\d{0,14}$/

const ruleExample = { kind: 'region', key: '+49', pool: 'eu' } as const

const list = defineRoute({
  ...common,
  method: 'GET',
  path: '/operator/worker-pools',
  success: { status: 200, schema: Pools },
  summary: 'The pools of voice workers, and which calls each serves',
  examples: {
    success: { rules: [ruleExample], pools: [{ pool: 'eu', workers: 2, seats: 40, ready: 31 }] },
  },
  handler: async (_, { store, redis }) => ({ rules: await listPoolRules(store), pools: await poolsOf(redis) }),
})

const set = defineRoute({
  ...common,
  method: 'PUT',
  path: '/operator/worker-pools',
  audit: ['kind', 'key', 'pool'],
  body: Rule,
  success: { status: 200, schema: Rule },
  summary: 'Have a pool serve an agent, a workspace or a region',
  description:
    'From the next call on. Such calls wait for a worker of the pool alone: without one they end with `no_capacity`.',
  examples: { body: ruleExample, success: ruleExample },
  handler: async ({ body }, { store }) => {
    const faults: Fault[] = []
    const isKey = body.kind === 'region' ? NUMBER_HEAD.test(body.key) : UUID.test(body.key)
    if (!isKey) {
      const msg =
        body.kind === 'region' ? 'must be the beginning of a number, such as +49' : `must be the id of the ${body.kind}`
      faults.push({ loc: ['body', 'key'], msg, type: 'value_error' })
    }
    if (faults.length > 0) throw new ValidationError(faults)
    await setPoolRule(store, body)
    return body
  },
})

const remove = defineRoute({
  ...common,
  method: 'DELETE',
  path: '/operator/worker-pools/{kind}/{key}',
  params: {
    kind: { description: '`agent`, `workspace` or `region`.', example: ruleExample.kind },
    key: { description: 'As the rule has it.', example: ruleExample.key },
  },
  success: { status: 200, schema: Detail },
  errors: ['worker_pool_rule_not_found'],
  summary: 'Have it served by the pool of everybody else again',
  examples: { success: { detail: 'Rule removed' } },
  handler: async ({ params }, { store }) => {
    const kind = POOL_KINDS.find((one): one is PoolKind => one === params.kind)
    if (kind === undefined || !(await removePoolRule(store, kind, params.key))) {
      throw new PatchbayError('worker_pool_rule_not_found')
    }
    return { detail: 'Rule removed' }
  },
})

export const workerPoolRoutes = [list, set, remove]

async function poolsOf(redis: RedisClient) {
  const [pools, workers] = await Promise.all([listPools(redis), listWorkers(redis)])
  const counted = pools.map(async (pool) => {
    const { ready, capacity: seats } = await countSlots(redis, pool)
    return { pool, workers: workers.filter((worker) => (worker.pool ?? '') === pool).length, seats, ready }
  })
  const all = await Promise.all(counted)
  return all.filter(({ pool, workers }) => pool === '' || workers > 0)
}

/** Seats by pool: what its workers are scaled by. */
export function measurePools(registry: Registry, redis: RedisClient): void {
  const seats = new Gauge({
    name: 'patchbay_pool_seats',
    help: 'Voice seats by pool of workers: all there are (capacity), and those that are free (ready)',
    labelNames: ['pool', 'state'],
    registers: [registry],
    async collect() {
      // The page has everything else while Redis can't be asked.
      const found = await poolsOf(redis).catch(() => [])
      seats.reset()
      for (const { pool, seats: capacity, ready } of found) {
        seats.set({ pool, state: 'capacity' }, capacity)
        seats.set({ pool, state: 'ready' }, ready)
      }
    },
  })
}
