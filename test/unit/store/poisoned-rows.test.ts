import { pino } from 'pino'
import t from 'tap'
import { uuidv7 } from 'uuidv7'
import { openSignallingBook } from '../../../api/calls/signalling-book.ts'
import type { WireMessage } from '../../../runtime/plugin-sdk/telephony/wire-message.ts'
import { lostRows } from '../../../runtime/process/metrics/lost-rows.ts'
import { openStore } from '../../../store/database/database.ts'
import { AttemptWriter } from '../../../workers/webhooks/attempt-writer.ts'
import { route } from '../../../workers/webhooks/route.ts'
import { until } from '../../support/instance/realtime-node.ts'
import { testDatabase } from '../../support/instance/services.ts'
import { ILL_FORMED } from '../../support/world/ill-formed.ts'

/** One row that the database refuses among others, for each writer of many rows. */

const store = openStore({ databaseUrl: await testDatabase(t), maxConnections: 4 })
t.teardown(() => store.close())
const query = async (text: string, values: unknown[] = []) => (await store.pool.query(text, values)).rows
const lines: { msg: string; table?: string }[] = []
const log = pino({ level: 'error' }, { write: (line: string) => void lines.push(JSON.parse(line)) })

async function lost(table: string, reason = 'refused'): Promise<number> {
  const { values } = await lostRows.get()
  return values.find(({ labels }) => labels.table === table && labels.reason === reason)?.value ?? 0
}

async function makeWorkspace(): Promise<string> {
  const id = uuidv7()
  await query(`insert into workspaces (id, name, type, slug) values ($1, 'w', 'test', $2)`, [id, id])
  return id
}

async function makeCall(workspaceId: string): Promise<string> {
  const [callId, agentId] = [uuidv7(), uuidv7()]
  await query(
    `insert into agents (id, workspace_id, agent_name, llm_provider, llm_model, temperature, system_prompt, first_message,
       stt_provider, stt_model, tts_provider, tts_voice) values ($1, $2, 'A', 'o', 'm', 0, 'p', '', 's', 'm', 's', 'v')`,
    [agentId, workspaceId],
  )
  await query(
    `insert into calls (id, workspace_id, agent_id, agent_name, call_type, direction, status, dynamic_variables)
     values ($1, $2, $3, 'A', 'phone', 'inbound', 'in_progress', '{}')`,
    [callId, workspaceId, agentId],
  )
  return callId
}

const message = (text: string): WireMessage => ({
  ...{ atMs: 0, direction: 'in', transport: 'udp', text },
  ...{ local: { address: '127.0.0.1', port: 5060 }, remote: { address: '127.0.0.1', port: 5061 } },
})

const refusal = (workspaceId: string, reason: string) => ({
  ...{ atMs: Date.now(), workspaceId, trunk: undefined, reason, detail: 'd', from: undefined, to: undefined },
  ...{ address: '127.0.0.1', sipCallId: 'c', status: 404 },
})

t.test('ladders and refused calls are written around the one that is refused', async (t) => {
  lines.length = 0
  const [bad, good] = [await makeWorkspace(), await makeWorkspace()]
  const [badCall, goodCall] = [await makeCall(bad), await makeCall(good)]
  await query(`alter table call_ladders add constraint poison check (call_id <> '${badCall}')`)
  await query(`alter table refused_calls add constraint poison check (reason <> 'poison')`)
  const before = [await lost('call_ladders'), await lost('refused_calls')]
  const book = openSignallingBook({ store, log, days: 1 })
  book.keep(badCall, [message('INVITE')])
  book.keep(
    goodCall,
    Object.values(ILL_FORMED).map(({ text }) => message(text)),
  )
  for (const reason of ['one', 'poison', 'two']) book.refused(refusal(good, reason))
  for (const { text } of Object.values(ILL_FORMED)) book.refused(refusal(bad, text))
  await book.close()
  t.match(await query('select messages from call_ladders'), [
    { messages: Object.values(ILL_FORMED).map(({ clean }) => ({ text: clean })) },
  ])
  const reasons = await query('select reason from refused_calls order by reason')
  t.same(
    reasons.map(({ reason }) => reason).sort(),
    [...Object.values(ILL_FORMED).map(({ clean }) => clean), 'one', 'two'].sort(),
  )
  t.same([(await lost('call_ladders')) - before[0]!, (await lost('refused_calls')) - before[1]!], [1, 1])
  t.match(lines, [{ table: 'call_ladders' }, { table: 'refused_calls' }])
})

t.test('an outage costs neither ladders nor refused calls', async (t) => {
  const workspaceId = await makeWorkspace()
  const callId = await makeCall(workspaceId)
  const gone = openStore({ databaseUrl: 'postgres://nobody@127.0.0.1:1/none', acquireTimeoutMs: 500 })
  t.teardown(() => gone.close())
  let isAway = true
  const sometimes = {
    get acrossTenants() {
      return isAway ? gone.acrossTenants : store.acrossTenants
    },
  }
  const book = openSignallingBook({ store: sometimes as never, log: pino({ level: 'silent' }), days: 1 })
  book.keep(callId, [message('INVITE')])
  book.refused(refusal(workspaceId, 'while away'))
  await new Promise((resolve) => setTimeout(resolve, 1_200))
  isAway = false
  const kept = async () => [
    await query('select 1 from call_ladders where call_id = $1', [callId]),
    await query(`select 1 from refused_calls where reason = 'while away'`),
  ]
  await until(async () => (await kept()).every(({ length }) => length === 1))
  await book.close()
})

/** A webhook for everything, and an event for it. */
async function makeWebhook(workspaceId: string) {
  const id = uuidv7()
  await query(
    `insert into webhooks (id, workspace_id, description, url, types, secret) values ($1, $2, '', 'http://127.0.0.1:1/', '{*}', 's')`,
    [id, workspaceId],
  )
  return id
}

const tell = (workspaceId: string, type: string) =>
  query(`insert into workspace_events (workspace_id, type, data) values ($1, $2, '{}')`, [workspaceId, type])

t.test('events are given to webhooks around the one whose deliveries are refused', async (t) => {
  lines.length = 0
  while (await route(store, log));
  const [bad, good] = [await makeWorkspace(), await makeWorkspace()]
  await makeWebhook(bad)
  const webhookId = await makeWebhook(good)
  await query(`alter table webhook_deliveries add constraint poison check (type <> 'call.poison')`)
  const before = await lost('webhook_deliveries')
  await tell(good, 'call.queued')
  await tell(bad, 'call.poison')
  await tell(good, 'call.ended')
  const arrived = async () =>
    (await query('select type from webhook_deliveries where webhook_id = $1 order by id', [webhookId])).map(
      ({ type }) => type,
    )
  await until(
    async () => {
      while (await route(store, log));
      return (await arrived()).length === 2
    },
    undefined,
    10_000,
  )
  t.same((await arrived()).sort(), ['call.ended', 'call.queued'])
  t.equal((await lost('webhook_deliveries')) - before, 1)
  t.equal(lines.length, 1)
})

t.test(
  'what came of deliveries is written around the one that is refused, and that one is settled without its words',
  async (t) => {
    const workspaceId = await makeWorkspace()
    const webhookId = await makeWebhook(workspaceId)
    for (const type of ['call.one', 'call.two', 'call.three']) await tell(workspaceId, type)
    const read = () =>
      query('select id, status, response_body, error from webhook_deliveries where webhook_id = $1 order by id', [
        webhookId,
      ])
    await until(async () => {
      while (await route(store, log));
      return (await read()).length === 3
    })
    await query(`alter table webhook_deliveries add constraint words check (response_body <> 'poison')`)
    const before = await lost('webhook_deliveries')
    const writer = new AttemptWriter(store, log)
    const bodies = ['fine', 'poison', 'well']
    await Promise.all(
      (await read()).map(({ id }, i) =>
        writer.write({
          ...{
            workspaceId,
            webhookId,
            id,
            status: 'delivered',
            nextAttemptAt: new Date(),
            at: new Date(),
            durationMs: 1,
          },
          ...{ responseStatus: 200, responseBody: bodies[i] ?? '', error: null },
        }),
      ),
    )
    t.match(await read(), [
      { status: 'delivered', response_body: 'fine', error: null },
      { status: 'delivered', response_body: null, error: 'The database refused what the receiver said' },
      { status: 'delivered', response_body: 'well', error: null },
    ])
    t.equal((await lost('webhook_deliveries')) - before, 1)
  },
)
