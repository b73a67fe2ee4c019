import t from 'tap'
import { skipWithout, startBaresip } from '../../../support/sip/sip-peers.ts'
import { waitUntil } from '../../../support/world/wait-until.ts'
import { type Body, INVOICES, SILENCE, saidBy, speechMs, startRealtimePhones, USE_TOOL } from './support.ts'

const skip = skipWithout('baresip', 'espeak-ng')
const MONDAYS = 'Invoices are sent on Mondays.'

t.test('a speech-to-speech model leads callers on', { skip, timeout: 900_000 }, async (t) => {
  const phones = await startRealtimePhones(t)
  const { client, sipPort, addAgent, call, callOf, eventsOf, say, sessions, refused } = phones
  const isOver = ({ status }: Body) => status !== 'in_progress'
  const happened = async (callId: string, type: string) =>
    waitUntil(
      async () => (await eventsOf(callId, type)).length > 0,
      () => `${type} in the call`,
    )
  /** A telephone of the house that picks up, and its name. */
  const addDesk = async (name: string) => {
    const { body: extension } = await client.post('/extensions', { body: { name } })
    const { username, password } = extension
    const account = { username, password, server: `127.0.0.1:${sipPort}` }
    const phone = await startBaresip(t, { says: SILENCE, autoAnswer: true, account })
    await waitUntil(async () => (await client.get(`/extensions/${extension.extension_id}`)).body.phones?.length === 1)
    return phone
  }

  await t.test('to another agent, which answers what it is asked and knows what was said', async (t) => {
    const billing = await addAgent({ agent_name: 'Billing', system_prompt: `You are billing. ${MONDAYS}` })
    const { number } = await addAgent({
      system_prompt: 'This is the front desk.',
      tools: [{ type: 'handoff', to: billing.agentId, when: 'It is about a bill.', says: 'One moment, please.' }],
    })
    const phone = await call(t, number)
    await say(phone, USE_TOOL)
    const { call_log_id } = await callOf(number, () => true)
    await happened(call_log_id, 'handed_off')
    await callOf(number, (one) => saidBy(one, 'assistant').length >= 3)
    await say(phone, INVOICES)
    await callOf(number, (one) => saidBy(one, 'assistant').includes(MONDAYS))
    const held = JSON.stringify(sessions.at(-1)?.())
    t.match(held, USE_TOOL)
    t.match(held, INVOICES)
    phone.command('hangup')
    t.match(await callOf(number, isOver), { status: 'completed', end_reason: 'caller_hangup' })
    t.strictSame(refused, [])
  })

  await t.test('to a telephone, blind', async () => {
    const desk = await addDesk('blind')
    const tool = { type: 'transfer', name: 'to_desk', description: 'To a human.', to: 'blind' }
    const { number } = await addAgent({ tools: [tool] })
    const phone = await call(t, number)
    await say(phone, USE_TOOL)
    await desk.event('CALL_ESTABLISHED')
    const { call_log_id } = await callOf(number, () => true)
    await happened(call_log_id, 'transfer_done')
    phone.command('hangup')
    t.match(await callOf(number, isOver), { status: 'completed', disposition: 'transferred' })
    t.strictSame(refused, [])
  })

  await t.test('to a telephone whose owner hears first who is calling and why', async () => {
    const desk = await addDesk('warm')
    const tool = { type: 'transfer', name: 'to_desk', description: 'To a human.', to: 'warm', mode: 'warm' }
    const { number } = await addAgent({ tools: [tool] })
    const phone = await call(t, number)
    await say(phone, USE_TOOL)
    await desk.event('CALL_ESTABLISHED')
    await waitUntil(async () => speechMs(await desk.heardSoFar()) > 2_000)
    desk.command('sndcode', '1')
    const { call_log_id } = await callOf(number, () => true)
    await happened(call_log_id, 'transfer_done')
    const joinedAt = (await desk.heardSoFar()).length
    await say(phone, INVOICES)
    await waitUntil(async () => speechMs((await desk.heardSoFar()).subarray(joinedAt)) > 800)
    phone.command('hangup')
    t.match(await callOf(number, isOver), { status: 'completed', disposition: 'transferred' })
    t.strictSame(refused, [])
  })
})
