import { pino } from 'pino'
import t from 'tap'
import { uuidv7 } from 'uuidv7'
import { createToolCalls } from '../../../../api/tools/tool-calls.ts'
import { systemClock } from '../../../../runtime/lib/clock.ts'
import { CarrierFault } from '../../../../runtime/plugin-sdk/telephony/carrier.ts'
import { openArgumentChecks } from '../../../../runtime/tools/argument-check.ts'
import { openStore } from '../../../../store/database/database.ts'
import { testDatabase } from '../../../support/instance/services.ts'

const SECRET = 'a secret of the tests'
const TOOLS = [
  { type: 'transfer', name: 'to_support', description: 'd', to: '+14155550199' },
  { type: 'send_dtmf', name: 'press', description: 'd' },
  {
    ...{ type: 'client', name: 'show', description: 'd', timeoutMs: 1_000 },
    parameters: { type: 'object', properties: {} },
  },
]

t.test('transfers and keys act on phone calls through their carrier and leg, and on nothing else', async (t) => {
  const store = openStore({ databaseUrl: await testDatabase(t), maxConnections: 2 })
  t.teardown(() => store.close())
  const [workspaceId, agentId] = [uuidv7(), uuidv7()]
  await store.global
    .insertInto('workspaces')
    .values({ id: workspaceId, name: 'w', type: 'test', slug: workspaceId, deleted_at: null })
    .execute()
  const { db } = store.tenant(workspaceId)
  const agent = { agent_name: 'A', llm_provider: 'o', llm_model: 'm', stt_provider: 's', stt_model: 'm' }
  await db
    .insertInto('agents')
    .values({
      ...agent,
      id: agentId,
      temperature: 0,
      system_prompt: 'p',
      first_message: '',
      tts_provider: 's',
      tts_voice: 'v',
      tools: JSON.stringify(TOOLS),
    })
    .execute()
  await db
    .insertInto('phone_numbers')
    .values({ phone_number: '+14155550100', agent_id: agentId, provider: 'sim' } as never)
    .execute()
  const callOf = async (call_type: 'phone' | 'web') => {
    const id = uuidv7()
    const numbers = call_type === 'phone' ? { from_number: '+14155550111', to_number: '+14155550100' } : {}
    const call = { id, agent_id: agentId, agent_name: 'A', call_type, direction: 'inbound', status: 'in_progress' }
    await db
      .insertInto('calls')
      .values({ ...call, ...numbers, dynamic_variables: '{}' } as never)
      .execute()
    return id
  }
  const transferred: string[][] = []
  const faults: string[] = []
  const keys: string[] = []
  const joined: unknown[][] = []
  const pages: object[] = []
  let refuses = false
  const carrier = {
    transfer: async (callId: string, to: string) => {
      if (refuses) throw new CarrierFault('603 Decline')
      transferred.push([callId, to])
    },
  }
  const checks = openArgumentChecks(pino({ level: 'silent' }))
  t.teardown(() => checks.close())
  const tools = createToolCalls({
    config: { dataKey: SECRET },
    store,
    log: pino({ level: 'silent' }),
    checks,
    clock: systemClock,
    mcp: { find: async () => undefined } as never,
    calls: () =>
      ({
        sendDtmf: (_: string, pressed: string) => keys.push(pressed) > 0,
        transfer: async (...order: unknown[]) => {
          joined.push(order)
          return { ok: true }
        },
        callPage: async () => pages.shift(),
        fault: (_: string, __: string, message: string) => faults.push(message),
      }) as never,
    carriers: () => ({ get: async () => carrier, titleOf: () => 'Sim' }) as never,
  })
  const [phone, web] = [await callOf('phone'), await callOf('web')]
  const run = (callId: string, name: string, input = {}) =>
    tools
      .ofCall({ callId, agentId }, name, input, { id: 'id', key: 'key' }, new AbortController().signal)
      .then(({ output }) => output)

  for (const to of ['x@evil.example>;method=INVITE?Subject=hi', 'sip:x@evil.example;method=INVITE', '<+14155550199>']) {
    const refused = await tools.transferTo(phone, to)
    t.equal(refused.ok, false, to)
    t.match(refused.output, /is no number, no extension and no SIP URI of user and host/)
  }
  t.match(await tools.transferTo(phone, '204'), { ok: false, output: /Sim calls numbers alone/ })
  t.same(transferred, [], "a supervisor's target is read as an agent's is")
  t.match(await tools.transferTo(phone, '+1 (415) 555-0199'), { ok: true })
  t.same(transferred.splice(0), [[phone, '+14155550199']], 'and written anew')
  t.equal(await run(phone, 'to_support'), 'The caller is being transferred.')
  t.same(transferred, [[phone, '+14155550199']])
  t.equal(await run(web, 'to_support'), 'The caller is being transferred.')
  t.match(joined, [[web, { to: '+14155550199', mode: 'blind' }]], 'from the agent’s own number, by a call of ours')
  refuses = true
  t.match(await run(phone, 'to_support'), /transfer failed/)
  t.same(faults, ['Tool "to_support": Sim error: 603 Decline'], 'the operator is told the carrier’s words')
  t.equal(await run(phone, 'press', { keys: '12#' }), 'The keys were pressed.')
  t.match(await run(phone, 'press', { keys: 'rm -rf' }), /^Wrong arguments/)
  t.same(keys, ['12#'])
  t.match(await run(phone, 'unknown'), /no tool/)

  const emoji = '\ud83d\ude00'
  pages.push(
    { result: `${'x'.repeat(7_999)}${emoji}` },
    { result: 'a\0\ud83d' },
    { error: `${'x'.repeat(499)}${emoji}` },
  )
  t.equal(
    await run(web, 'show'),
    `${'x'.repeat(7_999)}…\n[Cut after 8000 characters; the rest is missing.]`,
    'what a page answers is cut between characters',
  )
  t.equal(await run(web, 'show'), 'a\ufffd', 'and clean')
  t.equal(await run(web, 'show'), `The page failed: ${'x'.repeat(499)}`)
  faults.length = 0
  await db.deleteFrom('phone_numbers').execute()
  t.match(await run(web, 'to_support'), /not possible/)
  t.match(faults, [/a caller on the web .* register one/])
  t.match(await run(uuidv7(), 'press', { keys: '1' }), /no tool/)
})
