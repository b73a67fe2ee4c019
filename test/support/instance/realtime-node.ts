import { fork } from 'node:child_process'
import { once } from 'node:events'
import { pino } from 'pino'
import { uuidv7 } from 'uuidv7'
import WebSocket from 'ws'
import { startServer } from '../../../api/http/server.ts'
import { createSessions, type Sessions } from '../../../api/realtime/start.ts'
import { issueSessionToken } from '../../../api/realtime/tokens.ts'
import { Quotas } from '../../../runtime/call/control/quotas.ts'
import type { AskAnswers } from '../../../runtime/call/control/worker-requests.ts'
import type { OpenConversation } from '../../../runtime/call/link/linked-conversation.ts'
import type { WorkerState } from '../../../runtime/call/link/messages.ts'
import { connectLinks, type Links } from '../../../runtime/call/link/worker-end.ts'
import type { AgentSpec } from '../../../runtime/call/types/agent-spec.ts'
import { systemClock } from '../../../runtime/lib/clock.ts'
import { PatchbayError } from '../../../runtime/lib/errors.ts'
import { openStore, type Store } from '../../../store/database/database.ts'
import { createRedis, type RedisClient } from '../../../store/redis/client.ts'
import { redisQuotaPlaces } from '../../../store/redis/quota-places.ts'
import type { SlotShares } from '../../../store/redis/slots.ts'
import { storedQuotas } from '../../../store/workspaces/quotas.ts'
import { scriptedConversation } from '../phone/scripted-conversation.ts'
import { NO_MCP } from '../providers/no-mcp.ts'
import { waitUntil } from '../world/wait-until.ts'
import { type Teardown, testDatabase, testRedis } from './services.ts'

/** An api node's realtime part on real sockets, a real database and a real Redis, with workers that follow a script. */

export const LINK_TOKEN = 'link-secret'
export const SAMPLE_RATE_HZ = 24_000
const log = pino({ level: process.env.TEST_LOG ?? 'silent' })

export interface RealtimeNode {
  url: string
  store: Store
  redis: RedisClient
  redisUrl: string
  databaseUrl: string
  sessions: Sessions
}

export interface NodeOptions {
  queueWaitMs?: number
  recoveryWaitMs?: number
  wrapUpMs?: number
  shares?: SlotShares
  webSessionsPerWorkspace?: number
  answers?: Partial<AskAnswers>
  /** The media worker of WebRTC; without one there is none. */
  webrtcWorker?: string
  /** Under which browsers are said to reach the node. */
  webrtcPublicAddress?: string
  /** Shared with another node. */
  databaseUrl?: string
  redisUrl?: string
}

export async function startNode(t: Teardown, options: NodeOptions = {}): Promise<RealtimeNode> {
  const databaseUrl = options.databaseUrl ?? (await testDatabase(t))
  const redisUrl = options.redisUrl ?? (await testRedis(t))
  const store = openStore({ databaseUrl, maxConnections: 4 })
  const redis = await createRedis(redisUrl, log)
  const config = {
    linkToken: LINK_TOKEN,
    // Longer than a seat that is there may take to come on a busy machine.
    queueWaitMs: options.queueWaitMs ?? 30_000,
    recoveryWaitMs: options.recoveryWaitMs ?? 20_000,
    wrapUpMs: options.wrapUpMs ?? 0,
    realtimeSampleRateHz: SAMPLE_RATE_HZ,
    idleTimeoutMs: 60_000,
    maxCallDurationMs: 600_000,
    port: 0,
    publicUrl: 'http://localhost:0',
    publicUrlGiven: false,
    webrtc: options.webrtcWorker === undefined ? 'off' : 'auto',
    webrtcPort: undefined,
    webrtcPublicAddress: options.webrtcPublicAddress,
    webrtcWorker: options.webrtcWorker,
  }
  const limits = { webSessionsPerWorkspace: options.webSessionsPerWorkspace ?? null }
  const quotas = new Quotas(redisQuotaPlaces(redis), storedQuotas(store, limits), log)
  const sessions = createSessions({
    mcpTools: NO_MCP,
    quotas,
    standing: { require: async () => undefined, watch: () => () => undefined },
    shares: () => options.shares ?? { inboundReserve: 0.1, workspaceShare: 1 },
    config,
    env: process.env,
    nodeUrl: () => `http://127.0.0.1:${server.port}`,
    store,
    prices: { costOf: () => ({ llmUsd: 0, sttUsd: 0, ttsUsd: 0 }), priceOf: () => null, platformUsdPerMinute: () => 0 },
    redis,
    answers: { tool: async () => ({ output: '' }), knowledge: async () => ({ passages: [] }), ...options.answers },
    clock: systemClock,
    log,
  })
  const server = await startServer({
    host: '127.0.0.1',
    port: 0,
    handle: (incoming) => incoming.send({ status: 404, headers: [] }),
    webSockets: sessions.routes,
    refuse(error) {
      log.info({ err: error }, 'upgrade refused')
      return { status: error instanceof PatchbayError ? error.status : 500, headers: [], body: '' }
    },
    requestId: () => 'test',
  })
  t.teardown(async () => {
    await sessions.stop(0)
    quotas.stop()
    await server.close(0)
    await store.close()
    redis.destroy()
  })
  return { url: `ws://127.0.0.1:${server.port}`, store, redis, redisUrl, databaseUrl, sessions }
}

/** Links a worker of this process to the nodes, and waits until each may use it. */
export async function startWorker(
  t: Teardown,
  nodes: readonly RealtimeNode[],
  options: {
    workerId?: string
    capacity?: number
    openConversation?: OpenConversation
    warm?: (callId: string, agent: AgentSpec) => void
    drain?: () => void
    state?: () => WorkerState
  } = {},
): Promise<Links> {
  const workerId = options.workerId ?? uuidv7()
  const abort = new AbortController()
  const links = connectLinks({
    urls: nodes.map(({ url }) => url),
    token: LINK_TOKEN,
    workerId,
    capacity: options.capacity ?? 10,
    metricsUrl: 'http://127.0.0.1:1/metrics',
    openConversation: options.openConversation ?? scriptedConversation,
    ...(options.warm && { warm: options.warm }),
    ...(options.drain && { drain: options.drain }),
    state: options.state ?? (() => 'ready'),
    clock: systemClock,
    random: Math.random,
    log,
    signal: abort.signal,
  })
  t.teardown(() => links.stop(0))
  for (const node of nodes) await workerReady(node, workerId)
  return links
}

/** Starts a worker process linked to the node. It dies with the test. */
export async function forkWorker(t: Teardown, node: RealtimeNode, workerId: string, capacity = 10) {
  const child = fork(new URL('./scripted-worker.ts', import.meta.url), [node.url, LINK_TOKEN, workerId, `${capacity}`])
  t.teardown(() => child.kill('SIGKILL'))
  await workerReady(node, workerId)
  return child
}

export async function workerReady(node: RealtimeNode, workerId: string): Promise<void> {
  await until(() => node.sessions.workers().some((worker) => worker.workerId === workerId && worker.state === 'ready'))
}

export interface Waiting {
  workspaceId: string
  callId: string
  token: string
}

/** A queued web call of an agent with this prompt, and the token that opens it; of a new workspace where none is named. */
export async function makeCall(
  node: RealtimeNode,
  systemPrompt = 'be kind to {{name}}',
  ofWorkspace?: string,
): Promise<Waiting> {
  const [workspaceId, agentId, callId] = [ofWorkspace ?? uuidv7(), uuidv7(), uuidv7()]
  const { db } = node.store.tenant(workspaceId)
  if (ofWorkspace === undefined) {
    await node.store.global
      .insertInto('workspaces')
      .values({ id: workspaceId, name: 'w', type: 'test', slug: workspaceId, deleted_at: null })
      .execute()
  }
  await db
    .insertInto('agents')
    .values({
      id: agentId,
      agent_name: 'Ada',
      llm_provider: 'offline',
      llm_model: 'm',
      temperature: 0,
      system_prompt: systemPrompt,
      first_message: 'Hello {{name}}',
      stt_provider: 'sim',
      stt_model: 'm',
      tts_provider: 'sim',
      tts_voice: 'v',
    })
    .execute()
  await db
    .insertInto('calls')
    .values({
      id: callId,
      agent_id: agentId,
      agent_name: 'Ada',
      call_type: 'web',
      direction: 'inbound',
      status: 'queued',
      dynamic_variables: JSON.stringify({ name: 'Bob' }),
    } as never)
    .execute()
  const { token } = await issueSessionToken(node.redis, { workspaceId, callId }, Date.now())
  return { workspaceId, callId, token }
}

/** Tokens of as many more calls like this one. */
export async function moreCalls(
  node: RealtimeNode,
  { workspaceId, callId }: Waiting,
  count: number,
): Promise<string[]> {
  const { rows } = await node.store.pool.query<{ id: string }>(
    `insert into calls (id, workspace_id, agent_id, agent_name, call_type, direction, status, dynamic_variables)
     select gen_random_uuid(), workspace_id, agent_id, agent_name, call_type, direction, 'queued', dynamic_variables
     from calls, generate_series(1, $2) where id = $1 returning id`,
    [callId, count],
  )
  const tokens = rows.map(({ id }) => issueSessionToken(node.redis, { workspaceId, callId: id }, Date.now()))
  return (await Promise.all(tokens)).map(({ token }) => token)
}

export async function readCall(node: RealtimeNode, { workspaceId, callId }: Waiting) {
  const { db } = node.store.tenant(workspaceId)
  const call = await db.selectFrom('calls').selectAll().where('id', '=', callId).executeTakeFirstOrThrow()
  const turns = await db.selectFrom('call_turns').selectAll().where('call_id', '=', callId).orderBy('seq').execute()
  return { call, turns }
}

/** Waits for the call's terminal status. */
export async function endedCall(node: RealtimeNode, waiting: Waiting) {
  await until(async () => (await readCall(node, waiting)).call.ended_at !== null)
  return readCall(node, waiting)
}

export type Message = { type: string } & Record<string, unknown>

/** A client of a realtime session that keeps all it got. */
export class RealtimeClient {
  readonly socket: WebSocket
  readonly messages: Message[] = []
  audioBytes = 0
  closeCode: number | undefined

  /** `query`: what follows the token, such as `&media=websocket`. */
  constructor(node: Pick<RealtimeNode, 'url'>, token: string, query = '') {
    this.socket = new WebSocket(`${node.url}/realtime?token=${token}${query}`)
    this.socket.on('message', (data: Buffer, isBinary) => {
      if (isBinary) this.audioBytes += data.byteLength
      else this.messages.push(JSON.parse(data.toString()) as Message)
    })
    this.socket.on('error', (error) => this.messages.push({ type: 'connection failed', error: error.message }))
    this.socket.on('close', (code) => {
      this.closeCode = code
    })
  }

  send(message: Record<string, unknown>): void {
    this.socket.send(JSON.stringify(message))
  }

  /** The first message of the type, past or to come, that has these fields. */
  async got(type: string, fields: Record<string, unknown> = {}): Promise<Message> {
    const matches = (message: Message) =>
      message.type === type && Object.entries(fields).every(([name, value]) => message[name] === value)
    await until(
      () => this.messages.some(matches) || this.closeCode !== undefined,
      () => this.#missing(type, fields),
    )
    const found = this.messages.find(matches)
    if (found === undefined) throw new Error(`Closed with ${this.closeCode} before ${this.#missing(type, fields)}`)
    return found
  }

  async closed(): Promise<number> {
    if (this.closeCode === undefined) await once(this.socket, 'close')
    return this.closeCode!
  }

  #missing(type: string, fields: Record<string, unknown>): string {
    return `"${type}" ${JSON.stringify(fields)} in ${JSON.stringify(this.messages.slice(-20))}`
  }
}

/** Opens the session and waits until the agent is there. */
export async function openSession(t: Teardown, node: RealtimeNode, { token }: Waiting): Promise<RealtimeClient> {
  const client = new RealtimeClient(node, token)
  t.teardown(() => client.socket.terminate())
  await client.got('session.started')
  return client
}

/** The HTTP status of an upgrade that was refused, or 101. */
export async function upgradeStatus(
  node: Pick<RealtimeNode, 'url'>,
  path: string,
  headers: Record<string, string> = {},
) {
  const socket = new WebSocket(`${node.url}${path}`, { headers })
  try {
    return await new Promise<number>((resolve) => {
      socket.on('unexpected-response', (_, response) => resolve(response.statusCode ?? 0))
      socket.on('open', () => resolve(101))
      socket.on('error', () => undefined)
    })
  } finally {
    socket.on('error', () => undefined)
    socket.terminate()
  }
}

/** Waits for a condition of this process, for as long as a loaded machine may need. */
export function until(
  condition: () => boolean | Promise<boolean>,
  what?: () => string,
  timeoutMs = 120_000,
): Promise<void> {
  return waitUntil(condition, what, { everyMs: 10, timeoutMs })
}
