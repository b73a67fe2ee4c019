import { LEASE_MS } from '../../runtime/call/control/leases.ts'
import { SESSION_TOKEN_TTL_S } from '../../runtime/call/control/session-token.ts'
import type { Prices } from '../../runtime/call/cost.ts'
import type { CallEnd } from '../../runtime/call/log/call-change.ts'
import type { CallEndReason } from '../../runtime/call/types/outcome.ts'
import type { Clock } from '../../runtime/lib/clock.ts'
import type { Logger } from '../../runtime/process/log.ts'
import { countLostRows } from '../../runtime/process/metrics/lost-rows.ts'
import { listOpenCalls, type OpenCall } from '../../store/calls/open-calls.ts'
import { forgetOldNodes, reportedCalls } from '../../store/calls/reported-calls.ts'
import { endCall } from '../../store/calls/write-calls.ts'
import { redisWriteFault } from '../../store/connections/redis-writes.ts'
import { type Store, sqlState } from '../../store/database/database.ts'
import { isRefusal } from '../../store/database/write-rows.ts'
import { unleasedCalls } from '../../store/redis/call-leases.ts'
import type { RedisClient } from '../../store/redis/client.ts'
import { startPeriodicJob } from '../rounds.ts'

/**
 * Ends orphans: calls whose api node died, and web sessions whose token ran out unused. A node is dead by evidence alone: its call
 * was without a lease for as long as a lease lasts while Redis took writes, and no node reported it to the database for that long.
 * So a Redis that lost its memory, refuses writes or was replaced costs no call.
 */

const INTERVAL_MS = 5_000
const PAGE = 500
const WRITE_CHECK_MS = 2_000
/** Rounds further apart: this process, or the machine, was suspended, and what it knew of others is old. */
const GAP_MS = 15_000
const FORGET_EVERY_MS = 3_600_000

type ReaperEnd = Omit<CallEnd, 'at' | 'durationMs'> & { endReason: CallEndReason }

const NODE_LOST: ReaperEnd = {
  status: 'failed',
  endReason: 'node_lost',
  disposition: 'failed',
  error: 'The server that held the call was lost, and up to a second of what happened before with it',
}
const TOKEN_EXPIRED: ReaperEnd = { status: 'canceled', endReason: 'token_expired', disposition: 'no_answer' }

interface ReaperOptions {
  store: Store
  redis: RedisClient
  clock: Clock
  log: Logger
  intervalMs?: number
  /** How long a call has to be without a lease. */
  graceMs?: number
  /** Sees to it that the carrier holds no call whose node is gone; called before the end is written. */
  releaseCarrier?: (call: OpenCall) => Promise<void>
  /** What a minute of a call costs; without it nothing. */
  prices?: Pick<Prices, 'platformUsdPerMinute'>
}

interface Reaper {
  /** Waits for the running round. */
  stop(): Promise<void>
}

/** Which end a call without a lease gets; undefined: it may still be taken. */
function endOf(call: OpenCall, nowMs: number): ReaperEnd | undefined {
  if (call.status !== 'queued') return NODE_LOST
  // A phone call waiting to be dialled has no lease.
  if (call.callType !== 'web') return call.placedAt === null ? undefined : NODE_LOST
  return nowMs - call.createdAt.getTime() > SESSION_TOKEN_TTL_S * 1000 ? TOKEN_EXPIRED : undefined
}

export function startReaper(options: ReaperOptions): Reaper {
  const { log, intervalMs = INTERVAL_MS } = options
  return startPeriodicJob(reaperRound(options), {
    intervalMs,
    onError: (err) => log.warn({ err }, 'Open calls could not be checked'),
  })
}

function reaperRound({
  store,
  redis,
  clock,
  log,
  graceMs = LEASE_MS,
  releaseCarrier,
  prices,
}: ReaperOptions): () => Promise<void> {
  let suspects = new Map<string, number>()
  let lastRoundMs = clock.monotonicMs()
  let forgottenAtMs = Number.NEGATIVE_INFINITY
  /** Why no call is ended now. */
  let held: string | undefined
  /** Calls kept by the second witness: each is said once. */
  let vouched = new Set<string>()
  /** Open calls whose end the database refused in the round before: each is said once. */
  let refused = new Set<string>()

  /** Keeps the call suspect, or ends it once it was that long enough. */
  const judge = async (call: OpenCall, still: Map<string, number>): Promise<void> => {
    const end = endOf(call, clock.nowMs())
    if (end === undefined) return
    const sinceMs = suspects.get(call.id) ?? clock.monotonicMs()
    if (clock.monotonicMs() - sinceMs < graceMs) {
      still.set(call.id, sinceMs)
      return
    }
    if (call.placedAt !== null) {
      // A carrier that is away holds up no other call.
      releaseCarrier?.(call).catch((err) => log.warn({ err, callId: call.id }, 'The carrier could not end a call'))
    }
    const { id: callId, workspaceId } = call
    const durationMs = end === NODE_LOST ? undefined : 0
    const ended = await endCall(store, { workspaceId, callId }, end, new Date(clock.nowMs()), durationMs, prices)
    if (!ended) return
    const unleasedMs = Math.round(clock.monotonicMs() - sinceMs)
    const evidence =
      end === NODE_LOST
        ? `no lease for ${unleasedMs} ms while Redis took writes, and no api node reported the call to the database for ${LEASE_MS} ms`
        : 'its token expired unused'
    log.warn({ callId: call.id, endReason: end.endReason, evidence }, 'Call ended by the reaper')
  }

  /** One call whose end is refused keeps those behind it from no end of theirs. */
  const passOver = ({ id, workspaceId }: OpenCall, err: unknown, stuck: Set<string>): void => {
    if (!isRefusal(err)) throw err
    stuck.add(id)
    if (refused.has(id)) return
    countLostRows('calls', 'refused')
    const { message } = err as Error
    log.error({ callId: id, workspaceId, code: sqlState(err), reason: message }, 'The end of a call was refused')
  }

  /** Whether what is missing in Redis says anything. */
  const canJudge = async (): Promise<boolean> => {
    const fault = await redisWriteFault(redis, WRITE_CHECK_MS)
    if (fault !== undefined && held === undefined) {
      log.warn({ reason: fault }, 'No call is ended as lost while leases cannot be renewed')
    } else if (fault === undefined && held !== undefined)
      log.info('Leases can be renewed again: lost calls are looked for')
    held = fault
    const nowMs = clock.monotonicMs()
    const isGap = nowMs - lastRoundMs > GAP_MS
    lastRoundMs = nowMs
    // Nodes get the whole time again to renew.
    if (fault !== undefined || isGap) suspects = new Map()
    return fault === undefined
  }

  /** Calls without a lease in Redis whose node says to the database that it has them. */
  const vouchedFor = async (unleased: readonly string[], now: Set<string>): Promise<ReadonlySet<string>> => {
    const reported = await reportedCalls(store, unleased, LEASE_MS)
    for (const [callId, nodeId] of reported) {
      now.add(callId)
      if (!vouched.has(callId)) log.warn({ callId, nodeId }, 'A call without a lease is kept: its node reports it')
    }
    return now
  }

  return async () => {
    if (!(await canJudge())) return
    if (clock.monotonicMs() - forgottenAtMs > FORGET_EVERY_MS) {
      forgottenAtMs = clock.monotonicMs()
      await forgetOldNodes(store)
    }
    const stuck = new Set<string>()
    const kept = new Set<string>()
    const still = new Map<string, number>()
    let afterId: string | undefined
    for (;;) {
      const calls = await listOpenCalls(store, afterId, PAGE)
      const unleased = new Set(
        await unleasedCalls(
          redis,
          calls.map(({ id }) => id),
        ),
      )
      const alive = await vouchedFor([...unleased], kept)
      for (const call of calls) {
        if (unleased.has(call.id) && !alive.has(call.id))
          await judge(call, still).catch((err) => passOver(call, err, stuck))
      }
      if (calls.length < PAGE) break
      afterId = calls.at(-1)?.id
    }
    suspects = still
    refused = stuck
    vouched = kept
  }
}
