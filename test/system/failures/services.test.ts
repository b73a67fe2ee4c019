import { setTimeout as sleep } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { createLogger } from '../../../runtime/process/log.ts'
import { startTestApi } from '../../support/instance/api.ts'
import { settledDocuments, startTestJobs } from '../../support/instance/jobs.ts'
import { RealtimeClient } from '../../support/instance/realtime-node.ts'
import { callWhen } from '../../support/phone/phone.ts'
import { startTestVoice } from '../../support/phone/voice.ts'
import { ApiDouble, telnyxKeys } from '../../support/providers/doubles/carriers/stream-carrier.ts'
import { startQdrantDouble } from '../../support/providers/doubles/stores/qdrant.ts'
import { startS3Double } from '../../support/providers/doubles/stores/s3.ts'
import { startMcpExample } from '../../support/providers/mcp-example.ts'
import { startCollector } from '../../support/providers/otlp-collector.ts'
import type { FaultProxy } from '../../support/world/fault-proxy.ts'
import { waitUntil } from '../../support/world/wait-until.ts'
import { startReceiver } from '../../support/world/webhook-receiver.ts'
import { type FailureRow, type Fault, faultsOfNetwork, heardLog, missingInDocs, proxied } from './failures.ts'

/** How long each fault lasts: webhooks are tried again after five seconds, and then after five minutes. */
const FAULT_MS = 2_500
const ASK_EVERY_MS = 250
/** What a use may take before it counts as without an answer. */
const USE_LIMIT_MS = 6_000
const MOST_RECOVERY_MS = 25_000
const REVOKED = 'key revoked for a while'
const NUMBER = '+14155550190'

/** Something outside that an installation needs for a part of its work. */
interface Dependency {
  name: string
  proxy: FaultProxy
  /** What somebody who needs it now gets. */
  use(): Promise<string>
  /** Whether it works, and what was begun meanwhile is done. */
  isWell(): Promise<boolean>
  /** What it says itself, as opposed to its network. */
  faults?: readonly Fault[]
  recoversWithinMs?: number
}

async function startWorld(t: Test) {
  const heard = heardLog()
  const log = createLogger({ level: 'warn', name: 'test', destination: heard.destination })
  const [s3, qdrant, carrier, collector, mcp, receiver] = await Promise.all([
    startS3Double(),
    startQdrantDouble(),
    ApiDouble.start(t),
    startCollector(t),
    startMcpExample(t),
    startReceiver(t, (_, response) => response.writeHead(hookStatus.now).end('taken')),
  ])
  const hookStatus = { now: 200 }
  for (const double of [s3, qdrant]) t.teardown(() => double.stop())
  const at = {
    s3: await proxied(t, s3.url),
    qdrant: await proxied(t, qdrant.url),
    carrier: await proxied(t, carrier.url),
    collector: await proxied(t, collector.url),
    mcp: await proxied(t, mcp.url),
    receiver: await proxied(t, receiver.url),
  }
  const keys = telnyxKeys()
  const env = {
    ...{ ...s3.env, S3_ENDPOINT: at.s3.url, ...qdrant.env, QDRANT_URL: at.qdrant.url },
    ...{ TELNYX_API_KEY: 'KEY1', TELNYX_PUBLIC_KEY: keys.publicKey, TELNYX_CONNECTION_ID: '42' },
    ...{ TELNYX_API_URL: at.carrier.url, PUBLIC_URL: 'http://127.0.0.1:0' },
    ...{ OTEL_EXPORTER_OTLP_ENDPOINT: at.collector.url, PATCHBAY_TOOLS_ALLOW_NET: '127.0.0.1' },
    ...{ PATCHBAY_RECORD_CALLS: 'true', PATCHBAY_IDLE_TIMEOUT_MS: '3600000' },
  }
  const api = await startTestApi(t, { env, log })
  await startTestVoice(t, api, env, log)
  await startTestJobs(t, api, env, log)
  return { heard, s3, qdrant, carrier, collector, receiver, hookStatus, at, keys, api, user: await api.signUp() }
}

t.test('what fails beside the stores costs no call, and its own work is done soon after its end', async (t) => {
  const { heard, s3, qdrant, carrier, collector, receiver, hookStatus, at, keys, api, user } = await startWorld(t)
  const { client } = user
  const makeAgent = async (more: Record<string, unknown> = {}): Promise<string> => {
    const { body, text } = await client.post('/agents', {
      body: {
        ...{ agent_name: 'Ava', system_prompt: 'Be kind.', first_message: 'Hi.' },
        ...{ LLM_provider: 'sim', TTS_provider: 'sim', TTS_voice: 'tone' },
        ...more,
      },
    })
    if (body.agent_id === undefined) throw new Error(text)
    return body.agent_id
  }
  const script = [
    { question: 'Go on', answer: 'Yes it is.' },
    { question: 'Greet me', tool: { name: 'greet', arguments: { name: 'Ada' } }, answer: '{output}' },
  ]
  const simple = await makeAgent({ LLM_model: JSON.stringify({ script }) })
  const agentId = await makeAgent({
    LLM_model: JSON.stringify({ script }),
    tools: [{ type: 'mcp', url: at.mcp.url, allow: ['greet'] }],
  })
  await waitUntil(async () => (await client.get(`/agents/${agentId}/tools`)).body.tools.length > 0)
  const open = async (agent: string) => {
    const { body } = await client.get('/calls/generate-token', { query: { agent_id: agent } })
    const page = new RealtimeClient({ url: api.url.replace(/^http/, 'ws') }, body.token)
    await page.got('session.started')
    return { page, callId: body.call_log_id as string }
  }
  /** Says something; what the agent answers, or nothing. */
  const answerTo = async (page: RealtimeClient, text: string, limitMs = USE_LIMIT_MS): Promise<string | undefined> => {
    const answers = () =>
      page.messages.filter(({ type, role, final }) => type === 'transcript' && role === 'assistant' && final === true)
    const before = answers().length
    page.send({ type: 'text', text })
    const endMs = performance.now() + limitMs
    while (performance.now() < endMs) {
      const answer = answers()[before]
      if (answer !== undefined) return String(answer.text)
      await sleep(20)
    }
    return undefined
  }
  const caller = await open(simple)
  const toolCaller = await open(agentId)
  await Promise.all([caller, toolCaller].map(({ page }) => page.got('transcript', { role: 'assistant', final: true })))

  const form = new FormData()
  form.append('files', new Blob(['The shop is at the pier.']), 'pier.txt')
  await client.post(`/agents/${simple}/upload`, { form })
  t.match(await settledDocuments(client, simple), [{ status: 'ready' }])
  const { body: hook } = await client.post('/webhooks', { body: { url: at.receiver.url, types: ['call.ended'] } })
  await api.store
    .tenant(user.workspaceId)
    .db.insertInto('phone_numbers')
    .values({ phone_number: NUMBER, agent_id: simple, provider: 'telnyx', trunk: null })
    .execute()
  carrier.answer = ({ method, path, body }) => {
    if (method !== 'POST' || path !== '/v2/calls') return { status: 200, body: { data: { is_alive: true } } }
    const call_control_id = `control-${body.command_id}`
    const event = { event_type: 'call.initiated', payload: { call_control_id, client_state: body.client_state } }
    const text = JSON.stringify({ data: event })
    const told = { method: 'POST', body: text, headers: keys.headers(text) }
    setTimeout(() => void fetch(`${api.url}/telephony/telnyx/event`, told).catch(() => {}), 20)
    return { status: 200, body: { data: { call_control_id, is_alive: true } } }
  }
  const telnyxAnswers = carrier.answer
  const refusing = (status: number) => () => {
    carrier.answer = () => ({ status, body: { errors: [{ title: 'No', code: '1' }] } })
  }
  const carrierFault = (name: string, status: number): Fault => ({
    name,
    begin: refusing(status),
    end: () => {
      carrier.answer = telnyxAnswers
    },
  })

  /** Calls whose recordings are on their way; deliveries by id. */
  const recordings = new Set<string>()
  const deliveries = new Set<string>()
  let spansBefore = 0
  const ended = async (): Promise<string> => {
    const { page, callId } = await open(simple)
    await page.got('transcript', { role: 'assistant', final: true })
    page.send({ type: 'end' })
    await page.closed()
    return callId
  }
  const dial = async (): Promise<string> => {
    const { status, body } = await client.post('/calls/outbound_call', {
      body: { agent_phone_number: NUMBER, phone_number_to_dial: '+14155552671' },
    })
    if (status >= 400) return `${status} ${body.detail}`
    const id = body.call_log_id
    const settled = await callWhen(
      user,
      id,
      (call) => !['queued', 'dialing'].includes(call.status),
      USE_LIMIT_MS,
    ).catch(() => undefined)
    if (settled === undefined) {
      await client.post(`/calls/${id}/hangup`)
      return 'the call waits'
    }
    if (settled.status !== 'failed') await client.post(`/calls/${id}/hangup`)
    return settled.status === 'failed' ? `\`failed\`, \`${settled.end_reason}\`` : 'the call rings'
  }
  const search = async (): Promise<string> => {
    const body = { query: 'where is the shop', by: 'words' }
    const signal = AbortSignal.timeout(USE_LIMIT_MS)
    const answer = await client.post(`/agents/${simple}/query`, { body, signal }).catch(() => undefined)
    if (answer === undefined) return 'no answer within 6 s'
    if (answer.status !== 200) return `${answer.status} ${answer.body.detail}`
    return answer.body.results.length > 0 ? '200' : '200, nothing is found'
  }
  const greet = async (): Promise<string> => {
    const answer = await answerTo(toolCaller.page, 'Greet me', 12_000)
    if (answer === undefined) return 'no answer within 12 s'
    return answer.includes('Hello, Ada!') ? "the tool's answer" : `the model reads ${answer}`
  }
  const dependencies: Dependency[] = [
    {
      ...{ name: 'object store', proxy: at.s3.proxy },
      async use() {
        const callId = await ended()
        recordings.add(callId)
        await sleep(1_000)
        const { body } = await client.get(`/calls/${callId}`)
        return body.recording_url === null ? 'the recording comes later' : 'the recording'
      },
      async isWell() {
        for (const callId of recordings) {
          if ((await client.get(`/calls/${callId}`)).body.recording_url === null) return false
          recordings.delete(callId)
        }
        return true
      },
      faults: [
        {
          name: 'answers 503',
          begin: () => s3.faults.set({ kind: 'refuse', status: 503, code: 'SlowDown' }),
          end: () => s3.faults.clear(),
        },
        {
          name: 'full: refuses writes',
          begin: () => s3.faults.set({ kind: 'refuse', status: 507, code: 'InsufficientStorage' }),
          end: () => s3.faults.clear(),
        },
        {
          name: REVOKED,
          begin: () => s3.faults.set({ kind: 'refuse', status: 403, code: 'InvalidAccessKeyId' }),
          end: () => s3.faults.clear(),
        },
      ],
    },
    {
      ...{
        name: 'carrier API',
        proxy: at.carrier.proxy,
        use: dial,
        isWell: async () => (await dial()) === 'the call rings',
      },
      faults: [
        carrierFault('answers 503', 503),
        carrierFault('too many requests: answers 429', 429),
        carrierFault(REVOKED, 401),
      ],
    },
    {
      ...{ name: 'webhook receiver', proxy: at.receiver.proxy },
      async use() {
        const { body } = await client.post(`/webhooks/${hook.webhook_id}/test`)
        deliveries.add(body.delivery_id)
        await sleep(1_000)
        return (await this.isWell()) ? 'the event' : 'the event comes later'
      },
      async isWell() {
        const { body } = await client.get(`/webhooks/${hook.webhook_id}/deliveries`)
        for (const { delivery_id: id, status } of body.items) if (status === 'delivered') deliveries.delete(id)
        return deliveries.size === 0
      },
      faults: [
        {
          name: 'answers 503',
          begin: () => {
            hookStatus.now = 503
          },
          end: () => {
            hookStatus.now = 200
          },
        },
        {
          name: 'secret rotated: answers 401',
          begin: () => {
            hookStatus.now = 401
          },
          end: () => {
            hookStatus.now = 200
          },
        },
      ],
    },
    {
      name: 'MCP server',
      proxy: at.mcp.proxy,
      use: greet,
      isWell: async () => (await greet()) === "the tool's answer",
    },
    {
      ...{ name: 'Qdrant', proxy: at.qdrant.proxy, use: search, isWell: async () => (await search()) === '200' },
      faults: [
        {
          name: 'answers 503',
          begin: () => qdrant.faults.set({ kind: 'refuse', status: 503 }),
          end: () => qdrant.faults.clear(),
        },
        {
          name: 'full: refuses writes',
          begin: () => qdrant.faults.set({ kind: 'refuse', status: 507 }),
          end: () => qdrant.faults.clear(),
        },
        {
          name: REVOKED,
          begin: () => qdrant.faults.set({ kind: 'refuse', status: 401 }),
          end: () => qdrant.faults.clear(),
        },
      ],
    },
    {
      ...{ name: 'OTLP collector', proxy: at.collector.proxy },
      async use() {
        await ended()
        return 'nothing waits for it'
      },
      async isWell() {
        spansBefore = collector.spans.length
        await ended()
        await waitUntil(() => collector.spans.length > spansBefore, undefined, { timeoutMs: MOST_RECOVERY_MS })
        return true
      },
      faults: [
        {
          name: 'answers 503',
          begin: () => {
            collector.answer = 503
          },
          end: () => {
            collector.answer = 200
          },
        },
        {
          name: REVOKED,
          begin: () => {
            collector.answer = 401
          },
          end: () => {
            collector.answer = 200
          },
        },
      ],
    },
  ]

  const rows: FailureRow[] = []
  for (const {
    name: dependency,
    proxy,
    use,
    isWell,
    faults = [],
    recoversWithinMs = 10_000,
    ...rest
  } of dependencies) {
    for (const { name: fault, begin, end } of [...faultsOfNetwork(proxy), ...faults]) {
      const where = `${dependency}, ${fault}`
      heard.of()
      const clients = new Set<string>()
      await begin()
      const endAtMs = performance.now() + FAULT_MS
      const asking = (async () => {
        while (performance.now() < endAtMs) {
          const got = await use.call({ ...rest, name: dependency, proxy, use, isWell })
          // What ends after the fault says something only where nothing else does.
          if (performance.now() < endAtMs) clients.add(got)
          else if (clients.size === 0) clients.add(`${got}, after its end`)
          await sleep(ASK_EVERY_MS)
        }
      })()
      const didTalk = (await answerTo(caller.page, 'Go on', FAULT_MS + 2_000)) === 'Yes it is.'
      await sleep(Math.max(0, endAtMs - performance.now()))
      await end()
      const endedMs = performance.now()
      let recoveryMs = Number.POSITIVE_INFINITY
      await asking
      while (performance.now() - endedMs < MOST_RECOVERY_MS) {
        if (await isWell().catch(() => false)) {
          recoveryMs = performance.now() - endedMs
          break
        }
        await sleep(ASK_EVERY_MS)
      }
      t.ok(didTalk, `${where}: the call goes on`)
      t.ok(recoveryMs < recoversWithinMs, `${where}: well again after ${Math.round(recoveryMs)} ms`)
      for (const answer of clients) t.notMatch(answer, /^50[024]/, `${where}: ${answer}`)
      rows.push({
        ...{ dependency, fault, recoveryMs, caller: didTalk ? 'nothing' : 'the agent falls silent' },
        ...{ clients: [...clients].sort(), log: heard.of() },
      })
    }
  }
  for (const { callId } of [caller, toolCaller]) {
    t.equal((await client.get(`/calls/${callId}`)).body.status, 'in_progress', 'the calls are where they were')
  }
  t.ok(receiver.received.length > 0)
  t.same(
    await missingInDocs('services', rows),
    [],
    'docs/failures.md has a row for each: UPDATE_FAILURES=1 writes them',
  )
})
