import type { Quotas } from '../../runtime/call/control/quotas.ts'
import type { Carriers } from '../../runtime/dialing/carriers.ts'
import { inBackground } from '../../runtime/lib/async/boundary.ts'
import type { Clock } from '../../runtime/lib/clock.ts'
import type { Logger } from '../../runtime/process/log.ts'
import type { Store } from '../../store/database/database.ts'
import type { RedisClient } from '../../store/redis/client.ts'
import { HANGUP_CHANNEL, hangupOrderOf } from '../../store/redis/hangup.ts'
import { subscribe } from '../../store/redis/subscribe.ts'
import type { DialCheck } from '../../workers/dialer/before-dial.ts'
import { type JobQueue, openQueue, runJobs } from '../../workers/queues.ts'
import type { Sessions } from '../realtime/start.ts'
import type { McpTools } from '../tools/mcp-tools.ts'
import { Placer } from './outbound-placer.ts'

/** Calls this node waits a seat for at once; those beyond stay in the queue for other nodes. */
const CONCURRENCY = 50
/** A call whose api node died before it dialled is taken by another after this, at most twice. */
const LOCK_MS = 5_000

export interface Outbound {
  /** Queues calls to be placed by any api node. */
  readonly queue: JobQueue<'outbound-calls'>
  /** Calls of this node that were dialled and not answered yet. */
  ringing(): number
  /** Takes no further call; those that ring have `graceMs` to be answered, and are hung up then. Answered ones are the sessions'. */
  drain(graceMs: number): Promise<void>
  /** Ends what rings, and hears of no hang-up any more. */
  stop(): Promise<void>
}

interface OutboundOptions {
  config: { readonly idleTimeoutMs: number; readonly maxCallDurationMs: number; readonly ringTimeoutMs: number }
  store: Store
  redis: RedisClient
  sessions: Sessions
  carriers: Carriers
  mayDial: DialCheck
  mcpTools: Pick<McpTools, 'complete'>
  quotas: Quotas
  clock: Clock
  log: Logger
}

/** The part of an api node that places calls, and ends those that others ask it to end. */
export async function startOutbound(options: OutboundOptions): Promise<Outbound> {
  const { config, store, redis, sessions, carriers, mayDial, mcpTools, quotas, clock, log } = options
  const placer = new Placer({
    store,
    calls: sessions.calls,
    quotas,
    carriers,
    journalOf: sessions.journalOf,
    limits: { idleMs: config.idleTimeoutMs, maxDurationMs: config.maxCallDurationMs },
    ringTimeoutMs: config.ringTimeoutMs,
    mayDial,
    mcpTools,
    clock,
    log,
  })
  const hangUps = await subscribe(redis, HANGUP_CHANNEL, { what: 'Listening for hang-ups', log }, (message) => {
    const { callId, who } = hangupOrderOf(message)
    if (!placer.hangUp(callId)) sessions.calls.hangUp(callId, who)
  })
  const queue = openQueue('outbound-calls', redis)
  const runner = runJobs(
    'outbound-calls',
    redis,
    {
      concurrency: CONCURRENCY,
      lockMs: LOCK_MS,
      onError: (err, job) => log.warn({ err, callId: job?.callId }, 'A call could not be placed yet'),
      // The sweep of the job workers queues again what is still to be placed.
      onPoison: ({ callId }) => log.error({ callId }, 'Placing a call ended several processes'),
    },
    ({ payload: { callId, workspaceId, waitMs }, queuedAtMs, signal }) =>
      placer.place(callId, workspaceId, waitMs === null ? undefined : queuedAtMs + waitMs, signal),
  )
  let draining: Promise<void> | undefined
  let stopping: Promise<void> | undefined
  const drain = (graceMs: number): Promise<void> => {
    draining ??= runner.stop(0).then(() => placer.settled(graceMs))
    return draining
  }
  return {
    queue,
    ringing: () => placer.ringing,
    drain,
    stop() {
      stopping ??= (async () => {
        inBackground('call', drain(0))
        await placer.stop()
        await draining
        await queue.close()
        hangUps.stop()
      })()
      return stopping
    },
  }
}
