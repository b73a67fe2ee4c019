import t from 'tap'
import { encodeG711 } from '../../../../runtime/media/codecs/g711.ts'
import { finishedLog, makeAgent } from '../../../../scripts/demo/call.ts'
import { startInstance } from '../../../support/instance/instance.ts'
import { TwilioDouble } from '../../../support/providers/doubles/carriers/twilio.ts'
import { linesOf, speech } from '../../../support/providers/doubles/carriers/twilio-speech.ts'
import { startDoubles } from '../../../support/providers/doubles/start.ts'
import { waitUntil } from '../../../support/world/wait-until.ts'
import { DELIVERY, HOURS, PROMPT, SPEECH_TO_SPEECH } from './support.ts'

const NUMBER = '+14155550111'
const LIMIT_MS = 300_000

t.test('a speech-to-speech model talks over the media streams of a carrier', { timeout: 700_000 }, async (t) => {
  const twilio = await TwilioDouble.start(t)
  const refused: string[] = []
  const doubles = await startDoubles([], { refused: (code, message) => void refused.push(`${code}: ${message}`) })
  t.teardown(doubles.stop)
  const instance = await startInstance(t, { ...twilio.env, ...doubles.env })
  const agent = { agent_name: 'Ada', system_prompt: PROMPT, first_message: 'Hello!', ...SPEECH_TO_SPEECH }
  const { rest, agentId } = await makeAgent(instance.url, agent)
  twilio.own(NUMBER)
  await rest.send('POST', '/phone-numbers', { phone_number: NUMBER, provider: 'twilio', agent_id: agentId })
  const finished = (id: string) => finishedLog(rest, id, AbortSignal.timeout(LIMIT_MS))

  await t.test('someone calls, asks two questions and says goodbye', async (t) => {
    await twilio.callIn('+14155550123', NUMBER, { lines: await linesOf([HOURS, DELIVERY]) })
    let callId = ''
    await waitUntil(async () => {
      const { items } = await rest.send<{ items: { call_log_id: string }[] }>('GET', '/calls/logs')
      callId = items[0]?.call_log_id ?? ''
      return callId !== ''
    })
    const log = await finished(callId)
    t.match(log, { status: 'completed', end_reason: 'caller_hangup' })
    const said = (role: string) => log.transcript.filter((turn) => turn.role === role).map(({ text }) => text)
    for (const question of [HOURS, DELIVERY]) t.ok(said('user').includes(question), `${question} in ${said('user')}`)
    t.match(said('assistant').join(' '), /nine to five.*three euros/)
    const { usage } = log as unknown as { usage: { output: { audio: number | null } } }
    t.ok((usage.output.audio ?? 0) > 50, `${usage.output.audio} tokens of its voice`)
    t.strictSame(refused, [])
  })

  await t.test('a machine that picks up is left the message after its beep', async (t) => {
    const from = twilio.own('+14155550112').phone_number
    const to = '+14155552672'
    const beep = Int16Array.from({ length: 4_000 }, (_, n) => 8_000 * Math.sin((2 * Math.PI * 1_000 * n) / 8_000))
    twilio.people.set(to, {
      greeting: Buffer.concat([await speech('You know what to do.'), encodeG711('pcmu', beep)]),
    })
    const { agent_id } = await rest.send<{ agent_id: string }>('POST', '/agents', {
      ...agent,
      ...{ voicemail: 'leave_message', voicemail_message: 'Please call us back.' },
    })
    await rest.send('POST', '/phone-numbers', { phone_number: from, provider: 'twilio', agent_id })
    const { call_log_id } = await rest.send<{ call_log_id: string }>('POST', '/calls/outbound_call', {
      agent_phone_number: from,
      phone_number_to_dial: to,
    })
    const log = await finished(call_log_id)
    t.match(log, { status: 'completed', end_reason: 'voicemail', answered_by: 'machine' })
    // What the machine says itself may come last.
    t.match(log.transcript.map(({ text }) => text).join(' '), /Please call us back\./)
    t.strictSame(refused, [])
  })
})
