import { setTimeout as sleep } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { encodeG711 } from '../../../runtime/media/codecs/g711.ts'
import { finishedLog, makeAgent } from '../../../scripts/demo/call.ts'
import type { RestClient } from '../../../scripts/demo/rest.ts'
import { AGENT } from '../../../scripts/demo/script.ts'
import { startInstance } from '../../support/instance/instance.ts'
import { TwilioDouble } from '../../support/providers/doubles/carriers/twilio.ts'
import { linesOf, speech } from '../../support/providers/doubles/carriers/twilio-speech.ts'
import { hurry } from '../../support/world/hurry.ts'

const LIMIT_MS = 300_000
const NUMBER = '+14155550111'
const QUESTIONS = ['What are your opening hours?', 'How much does delivery cost?']

t.test('a Twilio number converses, whoever calls whom', async (t) => {
  const twilio = await TwilioDouble.start(t)
  const person = { lines: await linesOf(QUESTIONS) }
  const instance = await startInstance(t, twilio.env)
  hurry()
  const { rest, agentId } = await makeAgent(instance.url)
  const number = twilio.own(NUMBER)
  await rest.send('POST', '/phone-numbers', { phone_number: NUMBER, provider: 'twilio', agent_id: agentId })
  t.equal(number.voice_url, `${instance.url.replace('127.0.0.1', 'localhost')}/telephony/twilio/voice`)

  const conversed = async (t: Test, callLogId: string) => {
    const log = await finishedLog(rest, callLogId, AbortSignal.timeout(LIMIT_MS))
    t.match(log, { status: 'completed', end_reason: 'caller_hangup' })
    const said = (role: string) => log.transcript.filter((turn) => turn.role === role).map(({ text }) => text)
    for (const question of QUESTIONS) t.ok(said('user').includes(question), `${question} among ${said('user')}`)
    t.match(said('assistant').join(' '), /three euros/i, 'the agent answered')
    return log
  }

  await t.test('the agent calls', async (t) => {
    twilio.people.set('+14155552671', person)
    const call = await rest.send<{ call_log_id: string }>('POST', '/calls/outbound_call', {
      agent_phone_number: NUMBER,
      phone_number_to_dial: '+14155552671',
    })
    await conversed(t, call.call_log_id)
    const [atTwilio] = [...twilio.calls.values()]
    t.equal(atTwilio?.status, 'completed')
    t.ok(atTwilio!.heardBytes > 8_000 * 4, 'the person heard seconds of the agent')
  })

  await t.test('a message is left after the beep of a machine', async (t) => {
    const twilio = await answeringMachine()
    const { agent_id: agentId } = await rest.send<{ agent_id: string }>('POST', '/agents', {
      ...AGENT,
      voicemail: 'leave_message',
      voicemail_message: 'Please call us back tomorrow.',
      recording_notice: 'This call is recorded.',
    })
    await rest.send('POST', '/phone-numbers', { phone_number: twilio.from, provider: 'twilio', agent_id: agentId })
    const call = await rest.send<{ call_log_id: string }>('POST', '/calls/outbound_call', {
      agent_phone_number: twilio.from,
      phone_number_to_dial: twilio.to,
    })
    const log = await finishedLog(rest, call.call_log_id, AbortSignal.timeout(LIMIT_MS))
    t.match(log, { status: 'completed', end_reason: 'voicemail', disposition: 'voicemail', answered_by: 'machine' })
    // Of the greeting between them a machine that beeps at once hears nothing; its own last words may come last.
    const said = log.transcript.map(({ text }) => text).join(' ')
    t.match(said, /^This call is recorded\./)
    t.match(said, /Please call us back tomorrow\./)
  })

  /** A number whose machine says something nobody recognises, then beeps. */
  async function answeringMachine() {
    const from = twilio.own('+14155550112').phone_number
    const to = '+14155552672'
    const beep = Int16Array.from({ length: 4_000 }, (_, n) => 8_000 * Math.sin((2 * Math.PI * 1_000 * n) / 8_000))
    const greeting = Buffer.concat([await speech('You know what to do.'), encodeG711('pcmu', beep)])
    twilio.people.set(to, { greeting })
    return { from, to }
  }

  await t.test('someone calls the agent', async (t) => {
    await twilio.callIn('+14155550123', NUMBER, person)
    await conversed(t, await newestInbound(rest))
  })
})

async function newestInbound(rest: RestClient): Promise<string> {
  for (;;) {
    const { items } = await rest.send<{ items: { call_log_id: string; direction: string }[] }>('GET', '/calls/logs')
    const inbound = items.find(({ direction }) => direction === 'inbound')
    if (inbound !== undefined) return inbound.call_log_id
    await sleep(50)
  }
}
