import t from 'tap'
import { phoneSays, saying } from '../../../support/phone/phone-says.ts'
import { recordingOf } from '../../../support/phone/recording-of.ts'
import { answerKeepAlive, freePort, skipWithout, startBaresip } from '../../../support/sip/sip-peers.ts'
import { Supervisor } from '../../../support/world/supervisor.ts'
import { waitUntil } from '../../../support/world/wait-until.ts'
import { type Body, COSTS, DELIVERY, PARKING, saidBy, speechMs, startRealtimePhones } from './support.ts'

const skip = skipWithout('baresip', 'espeak-ng')
const words = (text: string): number => text.split(/\s+/).filter(Boolean).length

t.test('a softphone talks with a speech-to-speech model', { skip, timeout: 900_000 }, async (t) => {
  const phones = await startRealtimePhones(t)
  const { client, addAgent, call, callOf, eventsOf, say, sessions, refused } = phones
  const has = (text: string) => (one: Body) => saidBy(one, 'assistant').some((said) => said.includes(text))

  await t.test(
    'both hear each other, the caller cuts in and presses keys; it is recorded, timed and priced',
    async (t) => {
      const { number } = await addAgent({})
      const phone = await call(t, number)
      await say(phone, DELIVERY)
      await callOf(number, has(COSTS))
      await say(phone, PARKING)
      const { call_log_id } = await callOf(number, () => true)
      const before = (await phone.heardSoFar()).length
      await waitUntil(async () => speechMs((await phone.heardSoFar()).subarray(before)) > 1_000)
      await say(phone, DELIVERY)
      const cut = await callOf(number, (one) => one.transcript.some((turn: Body) => turn.interrupted))
      const heard = cut.transcript.find((turn: Body) => turn.interrupted).text
      await callOf(number, (one) => saidBy(one, 'assistant').filter((said) => said === COSTS).length === 2)
      const held = () => sessions.flatMap((of) => of())
      const kept = held().find(({ text }) => text.startsWith('You can park'))?.text ?? ''
      t.ok(Math.abs(words(kept) - words(heard)) <= 2, `“${kept}” is held, “${heard}” was heard`)
      phone.command('sndcode', '7')
      await waitUntil(() => held().some(({ text }) => text.includes('pressed 7')))
      phone.command('hangup')
      const over = await callOf(number, ({ status }) => status === 'completed')
      t.match(over, { end_reason: 'caller_hangup', direction: 'inbound' })
      t.match(saidBy(over, 'user').slice(0, 3), [DELIVERY, PARKING, DELIVERY])
      t.ok(over.usage.output.audio > 50 && over.usage.input.audio > 20, JSON.stringify(over.usage))
      t.ok(over.cost.total_cost > 0, JSON.stringify(over.cost))
      const timed = await eventsOf(call_log_id, 'latency')
      t.ok(timed.length >= 3, `${timed.length} answers are timed`)
      const recording = await recordingOf(client, call_log_id)
      t.ok(speechMs(recording.caller) > 2_000, `${speechMs(recording.caller)} ms of the caller`)
      t.ok(speechMs(recording.agent) > 5_000, `${speechMs(recording.agent)} ms of the agent`)
      t.ok(speechMs(await phone.heard()) > 5_000, 'the phone heard it')
      t.strictSame(refused, [])
    },
  )

  await t.test('a supervisor whispers, takes the caller over and gives them back', async (t) => {
    const { number } = await addAgent({})
    const phone = await call(t, number)
    const { call_log_id } = await callOf(number, () => true)
    const supervisor = await Supervisor.listen(client, call_log_id)
    t.teardown(() => supervisor.socket.terminate())
    supervisor.send({ type: 'whisper', text: 'They are a member of the club.' })
    await supervisor.happened('whispered')
    supervisor.send({ type: 'take_over' })
    await supervisor.happened('took_over')
    await say(phone, PARKING)
    await supervisor.happened('turn')
    supervisor.send({ type: 'give_back', summary: 'They know where to park.' })
    await waitUntil(() => supervisor.events('latency').length > 0 || supervisor.events('said').length > 1)
    await say(phone, DELIVERY)
    await callOf(number, has(COSTS))
    const held = sessions.at(-1)?.() ?? []
    const text = JSON.stringify(held)
    t.match(text, /member of the club/)
    t.match(text, /They know where to park/)
    t.strictSame(
      held.filter(({ role }) => role === 'user').map(({ text }) => text),
      [PARKING, DELIVERY],
      'the sound that the supervisor heard is no part of the next question',
    )
    phone.command('hangup')
    await callOf(number, ({ status }) => status === 'completed')
    t.strictSame(refused, [])
  })

  await t.test('a caller agrees to be recorded; the yes is no part of their question', async (t) => {
    const { number } = await addAgent({ consent_message: 'May we record this call?' })
    const phone = await call(t, number)
    await say(phone, 'Yes, please.')
    await callOf(number, has('Hello!'))
    await say(phone, DELIVERY)
    await callOf(number, has(COSTS))
    const asked = (sessions.at(-1)?.() ?? []).filter(({ role }) => role === 'user')
    t.strictSame(
      asked.map(({ text }) => text),
      [DELIVERY],
    )
    phone.command('hangup')
    t.match(await callOf(number, ({ status }) => status === 'completed'), { consent: 'given' })
    t.strictSame(refused, [])
  })

  await t.test('a machine that picks up is left the message after its beep', async (t) => {
    const port = await freePort()
    const beep = Int16Array.from({ length: 4_000 }, (_, n) => 8_000 * Math.sin((2 * Math.PI * 1_000 * n) / 8_000))
    const greeting = await phoneSays('You know what to do.')
    const says = saying(
      [
        [500, greeting],
        [500 + greeting.length / 8, beep],
      ],
      300_000,
    )
    const { agentId } = await addAgent({ voicemail: 'leave_message', voicemail_message: 'Please call us back.' })
    const trunk = { name: 'machine', host: `127.0.0.1:${port}`, allowed_addresses: ['127.0.0.1'], countries: ['US'] }
    await answerKeepAlive(port, () => client.post('/trunks', { body: trunk }))
    await startBaresip(t, { says, autoAnswer: true, port })
    const from = '+14155554001'
    const own = { phone_number: from, provider: 'sip', agent_id: agentId, trunk: 'machine' }
    await client.post('/phone-numbers', { body: own })
    const { body } = await client.post('/calls/outbound_call', {
      body: { agent_phone_number: from, phone_number_to_dial: '+14155550177' },
    })
    const read = async () => (await client.get(`/calls/${body.call_log_id}`)).body
    await waitUntil(async () => (await read()).status === 'completed')
    const over = await read()
    t.match(over, { end_reason: 'voicemail', disposition: 'voicemail', answered_by: 'machine' })
    t.match(saidBy(over, 'assistant').at(-1), /Please call us back\./)
    t.strictSame(refused, [])
  })

  await t.test('a caller who says nothing is let go, and a call ends at its limit with a goodbye', async (t) => {
    const idle = await addAgent({ idle_timeout_s: 10 })
    const short = await addAgent({ max_duration_s: 22 })
    await Promise.all([call(t, idle.number), call(t, short.number)])
    const isOver = ({ status }: Body) => status === 'completed'
    t.match(await callOf(idle.number, isOver), { end_reason: /idle/ })
    t.match(await callOf(short.number, isOver), { end_reason: /duration/ })
    t.strictSame(refused, [])
  })
})
