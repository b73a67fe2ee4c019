import { randomUUID } from 'node:crypto'
import { Calls } from '../../runtime/call/control/calls.ts'
import { Dispatch } from '../../runtime/call/control/dispatch.ts'
import { Leases } from '../../runtime/call/control/leases.ts'
import type { Quotas } from '../../runtime/call/control/quotas.ts'
import type { AskAnswers } from '../../runtime/call/control/worker-requests.ts'
import type { Prices } from '../../runtime/call/cost.ts'
import { createLinkHub, type LinkedWorker } from '../../runtime/call/link/api-end.ts'
import { CallWriter } from '../../runtime/call/log/call-writer.ts'
import type { CallJournal } from '../../runtime/call/log/journal.ts'
import type { AgentSpec } from '../../runtime/call/types/agent-spec.ts'
import type { AudioFormat } from '../../runtime/call/types/leg.ts'
import { inBackground } from '../../runtime/lib/async/boundary.ts'
import type { Clock } from '../../runtime/lib/clock.ts'
import type { PluginKeys, StoredKeys } from '../../runtime/plugin/stored-keys.ts'
import type { Logger } from '../../runtime/process/log.ts'
import type { WebSocketRoute } from '../../runtime/process/web-socket.ts'
import type { CallTap } from '../../runtime/recording/call-recording.ts'
import type { SpooledCall } from '../../runtime/recording/spool.ts'
import type { CallTraces } from '../../runtime/traces/call-traces.ts'
import { reportHeldCalls } from '../../store/calls/reported-calls.ts'
import { writeCalls } from '../../store/calls/write-calls.ts'
import type { Store } from '../../store/database/database.ts'
import { redisCallLeases } from '../../store/redis/call-leases.ts'
import type { RedisClient } from '../../store/redis/client.ts'
import { redisLiveFeed } from '../../store/redis/live-feed.ts'
import { RedisSlots, type SlotShares } from '../../store/redis/slots.ts'
import type { StandingRights } from '../auth/standing-rights.ts'
import { sessionKeys } from '../providers/session-keys.ts'
import type { McpTools } from '../tools/mcp-tools.ts'
import { isRecordedBy } from './is-recorded.ts'
import { Resumes } from './resumes.ts'
import { WebRtc, type WebRtcOptions } from './webrtc/webrtc.ts'
import { realtimeRoute } from './websocket.ts'

/** The sessions of an api node: the link the workers dial, the legs of the callers, and what joins them. */

interface SessionsOptions {
  config: {
    readonly linkToken: string
    readonly linkTokenVerify?: readonly string[] | undefined
    readonly queueWaitMs: number
    readonly recoveryWaitMs: number
    readonly wrapUpMs: number
    readonly realtimeSampleRateHz: number
    readonly idleTimeoutMs: number
    readonly maxCallDurationMs: number
    /** Every call; else those whose caller or agent asks for it. */
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
  /** The keys of providers that voice workers need and an operator stored. */
  keys?(): StoredKeys
  /** Those of workspaces' own accounts. */
  ownKeys?: Pick<PluginKeys, 'of'>
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
  /** Asks the voice workers linked to this node to read their settings anew. */
  reloadWorkers(): void
  /** Sends the voice workers linked to this node the stored keys of providers as they are now. */
  sendKeys(): void
  /** How many sessions wait for a voice slot on this node, by kind. */
  waiting(): ReadonlyMap<string, number>
  /** This node stops: it says that it is not ready, so that new calls go elsewhere. Those that come nevertheless are served. */
  leave(): void
  /** Whether it leaves. */
  leaving(): boolean
  /** Why the leases of calls can't be renewed; undefined: they are. */
  leaseFault(): string | undefined
  /** Opens no new session, waits for the running ones, ends those left after `graceMs`, then closes the links. */
  stop(graceMs: number): Promise<void>
}

export function createSessions(options: SessionsOptions): Sessions {
  const { config, env, nodeUrl, store, prices, redis, quotas, shares, answers, mcpTools, record, traces, clock, log } =
    options
  const { ownKeys } = options
  const priced = {
    ...prices,
    isOwnKey: (workspaceId: string, provider: string) => ownKeys?.of(workspaceId)[provider] !== undefined,
  }
  const slots = new RedisSlots(redis, { shares })
  const nodeId = randomUUID()
  const report = (callIds: readonly string[]) => reportHeldCalls(store, nodeId, callIds)
  const settled = (callId: string) => writer.settled(callId)
  const leases = new Leases({ callLeases: redisCallLeases(redis), slots, report, settled, clock, log })
  const hub = createLinkHub({
    nodeId,
    tokens: [config.linkToken, ...(config.linkTokenVerify ?? [])],
    keys: options.keys,
    ...(ownKeys === undefined ? {} : { keysFor: (agent: AgentSpec) => sessionKeys(ownKeys, agent) }),
    clock,
    log,
    ...(options.dropped === undefined ? {} : { dropped: options.dropped }),
    changed: (worker) => dispatch.changed(worker, clock.monotonicMs()),
    gone: (worker, leaving) => dispatch.gone(worker, leaving),
  })
  const dispatch = new Dispatch({ slots, leases, workers: hub.workers, wrapUpMs: config.wrapUpMs, log })
  const waits = { queueMs: config.queueWaitMs, recoveryMs: config.recoveryWaitMs }
  const calls = new Calls({ dispatch, leases, answers, waits, clock, log })
  const writer = new CallWriter({
    log,
    write: (entries, isLastTry) => writeCalls({ store, prices: priced, clock, log }, entries, isLastTry),
  })
  const live = redisLiveFeed(redis, log)
  const journalOf = (workspaceId: string, { isRecorded = false }: CallOptions = {}): CallJournal => ({
    event(callId, event, { turns }, serving) {
      writer.add(workspaceId, callId, event, { turns: turns.length, serving })
      live.publish(workspaceId, callId, event)
      traces?.event(workspaceId, callId, event)
    },
    written: (callId) => writer.written(callId),
    record(callId, format, startMs, wish) {
      const isWanted = isRecordedBy(config.recordCalls || isRecorded, wish)
      return isWanted ? record?.({ workspaceId, callId }, format, startMs) : undefined
    },
  })
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
    reloadWorkers() {
      for (const worker of hub.workers()) worker.reload()
    },
    sendKeys() {
      for (const worker of hub.workers()) worker.sendKeys()
    },
    journalOf,
    waiting: () => dispatch.waiting(),
    leave() {
      leaving = true
    },
    leaving: () => leaving,
    leaseFault: () => leases.fault,
    async stop(graceMs) {
      leaving = true
      draining = true
      await realtime.stop()
      await calls.drain(graceMs)
      webrtc.stop()
      await writer.stop()
      traces?.stop()
      live.stop()
      hub.close()
      dispatch.stop()
      leases.stop()
    },
  }
}
