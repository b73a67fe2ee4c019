import { randomUUID } from 'node:crypto'
import { Calls } from '../../runtime/call/control/calls.ts'
import { Dispatch } from '../../runtime/call/control/dispatch.ts'
import { Leases } from '../../runtime/call/control/leases.ts'
import type { Quotas } from '../../runtime/call/control/quotas.ts'
import type { AskAnswers } from '../../runtime/call/control/worker-requests.ts'
import type { Prices, StageChoices } from '../../runtime/call/cost.ts'
import { createLinkHub, type LinkedWorker } from '../../runtime/call/link/api-end.ts'
import { EventJournal, type JournalRow } from '../../runtime/call/log/event-journal.ts'
import type { CallJournal } from '../../runtime/call/log/journal.ts'
import type { LiveFeed } from '../../runtime/call/log/live-feed.ts'
import type { AudioFormat } from '../../runtime/call/types/leg.ts'
import { inBackground } from '../../runtime/lib/async/boundary.ts'
import type { Clock } from '../../runtime/lib/clock.ts'
import type { Logger } from '../../runtime/process/log.ts'
import type { WebSocketRoute } from '../../runtime/process/web-socket.ts'
import type { CallTap } from '../../runtime/recording/call-recording.ts'
import type { SpooledCall } from '../../runtime/recording/spool.ts'
import type { CallTraces } from '../../runtime/traces/call-traces.ts'
import { appendCallEvents, lacksPartition, makeEventPartitions } from '../../store/calls/call-events.ts'
import {
  addProgress,
  type CallEnd,
  stageChoicesOf,
  writeAnswered,
  writeEnd,
  writeObserved,
  writeRinging,
  writeTurn,
} from '../../store/calls/call-writes.ts'
import type { Store } from '../../store/database/database.ts'
import { type RowsWritten, writeRow, writeRows } from '../../store/database/write-rows.ts'
import { redisCallLeases } from '../../store/redis/call-leases.ts'
import type { RedisClient } from '../../store/redis/client.ts'
import { redisLiveFeed } from '../../store/redis/live-feed.ts'
import { RedisSlots, type SlotShares } from '../../store/redis/slots.ts'
import type { StandingRights } from '../auth/standing-rights.ts'
import type { McpTools } from '../tools/mcp-tools.ts'
import { Resumes } from './resumes.ts'
import { WebRtc, type WebRtcOptions } from './webrtc/webrtc.ts'
import { realtimeRoute } from './websocket.ts'

/** The sessions of an api node: the link the workers dial, the legs of the callers, and what joins them. */

export interface SessionsOptions {
  config: {
    readonly linkToken: string
    readonly linkTokenVerify?: readonly string[] | undefined
    readonly queueWaitMs: number
    readonly recoveryWaitMs: number
    readonly wrapUpMs: number
    readonly realtimeSampleRateHz: number
    readonly idleTimeoutMs: number
    readonly maxCallDurationMs: number
    /** Every call; else those whose caller asked for it. */
    readonly recordCalls?: boolean
  } & WebRtcOptions['config']
  env: WebRtcOptions['env']
  /** Address under which clients reach this very node; asked each time. */
  nodeUrl(): string
  store: Store
  prices: Prices
  redis: RedisClient
  /** Counts web sessions. */
  quotas: Quotas
  /** Ends the sessions of visitors whose agent is public no more. */
  standing: Pick<StandingRights, 'require' | 'watch'>
  /** How the slots are shared out; asked each time. */
  shares(): SlotShares
  /** Does what workers ask for. */
  answers: AskAnswers
  /** Records a call from now on. */
  record?: ((call: SpooledCall, format: AudioFormat, startMs: number) => CallTap | undefined) | undefined
  mcpTools: Pick<McpTools, 'complete'>
  /** Where the events of calls become traces; undefined: nowhere. */
  traces?: CallTraces | undefined
  /** Audio was not sent: a voice worker reads too slowly. */
  dropped?(bytes: number): void
  clock: Clock
  log: Logger
}

/** Options of the client that opens a call. */
export interface CallOptions {
  /** It is recorded even where calls are not. */
  readonly isRecorded?: boolean | undefined
}

export interface Sessions {
  /** `/link` and `/realtime`. */
  readonly routes: readonly WebSocketRoute[]
  /** Joins legs of any kind to agents. */
  readonly calls: Calls
  /** Where a call of the workspace is written down; one for each call. */
  journalOf(workspaceId: string, wish?: CallOptions): CallJournal
  /** How audio of web calls goes that does not go over their WebSocket. */
  readonly webrtc: WebRtc
  /** The voice workers linked to this node. */
  workers(): LinkedWorker[]
  /** Asks a voice worker to take no new session and to end after its last. False: it is not linked to this node. */
  drainWorker(workerId: string): boolean
  /** How many sessions wait for a voice slot on this node, by kind. */
  waiting(): ReadonlyMap<string, number>
  /** This node stops: it says that it is not ready, so that new calls go elsewhere. Those that come nevertheless are served. */
  leave(): void
  /** Whether it leaves. */
  leaving(): boolean
  /** Opens no new session, waits for the running ones, ends those left after `graceMs`, then closes the links. */
  stop(graceMs: number): Promise<void>
}

export function createSessions(options: SessionsOptions): Sessions {
  const { config, env, nodeUrl, store, prices, redis, quotas, shares, answers, mcpTools, record, traces, clock, log } =
    options
  const slots = new RedisSlots(redis, { shares })
  const leases = new Leases(redisCallLeases(redis), slots, log)
  const hub = createLinkHub({
    nodeId: randomUUID(),
    tokens: [config.linkToken, ...(config.linkTokenVerify ?? [])],
    clock,
    log,
    ...(options.dropped === undefined ? {} : { dropped: options.dropped }),
    changed: (worker) => dispatch.changed(worker, clock.monotonicMs()),
    gone: (worker, leaving) => dispatch.gone(worker, leaving),
  })
  const dispatch = new Dispatch({ slots, leases, workers: hub.workers, wrapUpMs: config.wrapUpMs, log })
  const waits = { queueMs: config.queueWaitMs, recoveryMs: config.recoveryWaitMs }
  const calls = new Calls({ dispatch, leases, answers, waits, clock, log })
  const events = new EventJournal({
    log,
    write: (rows, isLastTry) => writeEvents({ store, clock, log }, rows, isLastTry),
  })
  const live = redisLiveFeed(redis, log)
  const journalOf = (workspaceId: string, { isRecorded = false }: CallOptions = {}) => {
    const recording = config.recordCalls || isRecorded ? record : undefined
    return makeJournal({ store, prices, record: recording, clock, log, events, live, traces }, workspaceId)
  }
  let leaving = false
  let draining = false
  const resumes = new Resumes({ redis, nodeUrl, ttlMs: config.maxCallDurationMs, log })
  const webrtc = new WebRtc({ config, env, clock, log })
  inBackground('websocket', webrtc.start())
  const realtime = realtimeRoute({
    resumes,
    webrtc,
    store,
    redis,
    calls,
    quotas,
    standing: options.standing,
    journalOf,
    sampleRateHz: config.realtimeSampleRateHz,
    limits: { idleMs: config.idleTimeoutMs, maxDurationMs: config.maxCallDurationMs },
    mcpTools,
    clock,
    log,
    draining: () => draining,
  })
  return {
    routes: [hub.route, realtime.route],
    calls,
    webrtc,
    workers: hub.workers,
    drainWorker(workerId) {
      const worker = hub.worker(workerId)
      worker?.drain()
      return worker !== undefined
    },
    journalOf,
    waiting: () => dispatch.waiting(),
    leave() {
      leaving = true
    },
    leaving: () => leaving,
    async stop(graceMs) {
      leaving = true
      draining = true
      await realtime.stop()
      await calls.drain(graceMs)
      webrtc.stop()
      await events.stop()
      traces?.stop()
      live.stop()
      hub.close()
      dispatch.stop()
      leases.stop()
    },
  }
}

interface JournalDeps {
  store: Store
  record: SessionsOptions['record']
  prices: Prices
  clock: Clock
  log: Logger
  events: EventJournal
  live: LiveFeed
  traces: SessionsOptions['traces']
}

/** Writes events into the journal; a partition that is missing is made. */
function writeEvents(
  { store, clock, log }: Pick<JournalDeps, 'store' | 'clock' | 'log'>,
  rows: readonly JournalRow[],
  isLastTry: boolean,
): Promise<RowsWritten<JournalRow>> {
  return writeRows({
    table: 'call_events',
    rows,
    about: ({ callId, firstSeq, lastSeq }) => ({ callId, firstSeq, lastSeq }),
    log,
    isLastTry,
    async write(some) {
      try {
        await appendCallEvents(store, some)
      } catch (error) {
        if (!lacksPartition(error)) throw error
        await makeEventPartitions(store, clock.nowMs())
        await appendCallEvents(store, some)
      }
    },
  })
}

/** Where the sessions of a workspace are written down. */
function makeJournal(
  { store, prices, record, clock, log, events, live, traces }: JournalDeps,
  workspaceId: string,
): CallJournal {
  const tenant = store.tenant(workspaceId)
  /** Of the calls written here: one as a rule. */
  const choices = new Map<string, Promise<StageChoices | undefined>>()
  const choicesOf = (callId: string) => {
    const known = choices.get(callId) ?? stageChoicesOf(tenant, callId)
    choices.set(callId, known)
    known.catch(() => choices.delete(callId))
    return known
  }
  /** What the database refuses is not tried again. */
  const written = async (table: string, callId: string, what: string | number, write: () => Promise<unknown>) => {
    await writeRow(table, { callId, what }, log, write)
  }
  return {
    event(callId, event) {
      events.add(workspaceId, callId, event)
      live.publish(workspaceId, callId, event)
      traces?.event(workspaceId, callId, event)
    },
    ringing: (callId) => written('calls', callId, 'ringing', () => writeRinging(tenant, callId)),
    answered: (callId, at) => written('calls', callId, 'answered', () => writeAnswered(tenant, callId, at)),
    turn: (callId, seq, turn) => written('call_turns', callId, seq, () => writeTurn(tenant, callId, seq, turn)),
    async progress(callId, usage, latenciesMs) {
      const costs = prices.costOf((await choicesOf(callId)) ?? {}, usage, new Date(clock.nowMs()))
      await written('calls', callId, 'progress', () => addProgress(tenant, callId, usage, latenciesMs, costs))
    },
    observed: (callId, what) => written('calls', callId, 'observed', () => writeObserved(tenant, callId, what)),
    async ended(callId, outcome, at, durationMs) {
      const write = (end: CallEnd) => writeEnd(tenant, callId, end, at, durationMs, prices.platformUsdPerMinute(at))
      if (await writeRow('calls', { callId, what: 'ended' }, log, () => write(outcome))) return
      // A call that stays open holds its places: what it can be refused for is the error's words.
      const { error: _, ...bare } = outcome
      await written('calls', callId, 'ended, without its error', () => write(bare))
    },
    record: (callId, format, startMs) => record?.({ workspaceId, callId }, format, startMs),
  }
}
