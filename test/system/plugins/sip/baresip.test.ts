import { setTimeout as sleep } from 'node:timers/promises'
import t from 'tap'
import type { ApiClient } from '../../../support/instance/api.ts'
import { startSipInstance } from '../../../support/instance/sip-instance.ts'
import { phoneSays, saying } from '../../../support/phone/phone-says.ts'
import { recordingOf } from '../../../support/phone/recording-of.ts'
import { answerKeepAlive, type Baresip, freePort, skipWithout, startBaresip } from '../../../support/sip/sip-peers.ts'
import { waitUntil } from '../../../support/world/wait-until.ts'

/** Conversations over real audio: a softphone, and a Patchbay as an operator starts it. */

const skip = skipWithout('baresip', 'espeak-ng')
const NUMBER = '+14155550100'
const QUESTION = 'What are your opening hours?'
/** To the end of any call. */
const SILENCE = saying([], 300_000)

t.test('a softphone talks with an agent', { skip }, async (t) => {
  const { client, sipPort } = await startSipInstance(t, { PATCHBAY_RECORD_CALLS: 'true' })
  const { body: agent } = await client.post('/agents', {
    body: {
      agent_name: 'Front desk',
      system_prompt: 'You answer for the Hotel Aurora. Our opening hours are nine to five.',
      first_message: 'Hotel Aurora, good morning!',
    },
  })
  const speech = await phoneSays(QUESTION)

  t.test('that it calls without any account: both hear each other, and keys arrive', async (t) => {
    await client.post('/phone-numbers', {
      body: { phone_number: NUMBER, provider: 'sip', agent_id: agent.agent_id },
    })
    const phone = await startBaresip(t, { says: SILENCE })
    phone.command('dial', `sip:${NUMBER}@127.0.0.1:${sipPort}`)
    await phone.event('CALL_ESTABLISHED')
    await onlyCall(client, (one) => spoke(one, 'assistant').length > 0)
    await phone.say(quietThen(500, speech))
    const call = await onlyCall(client, (one) => spoke(one, 'user').length > 0 && spoke(one, 'assistant').length > 1)
    phone.command('sndcode', '5')
    await onlyCall(client, (one) => JSON.stringify(one.transcript).includes('pressed 5'))
    phone.command('hangup')
    const over = await onlyCall(client, ({ status }) => status === 'completed')
    t.match(over, { direction: 'inbound', end_reason: 'caller_hangup', to_number: NUMBER, call_type: 'phone' })
    t.match(spoke(over, 'assistant')[0], /Hotel Aurora, good morning!/)
    t.match(spoke(over, 'user')[0], QUESTION)
    t.match(spoke(call, 'assistant').join(' '), /nine to five/)
    const heard = await phone.heard()
    t.ok(speechMs(heard) > 1_500, `the phone heard ${speechMs(heard)} ms of speech`)

    t.test('and the recording has it all: the caller left, the agent right, each at its time', async (t) => {
      const { caller, agent, durationMs } = await recordingOf(client, over.call_log_id)
      const called = runsOfSpeech(caller)
      const answered = runsOfSpeech(agent)
      t.match(called.length, 1, 'the caller spoke once')
      t.ok(Math.abs((called[0]?.ms ?? 0) - speechMs(speech)) < 300, JSON.stringify({ called, ms: speechMs(speech) }))
      const [greeting] = answered
      const greeted = greeting !== undefined && greeting.startMs < (called[0]?.startMs ?? 0)
      t.ok(greeted, `the greeting begins it: ${JSON.stringify({ called, answered })}`)
      const reply = answered.find(({ startMs }) => startMs >= (called[0]?.endMs ?? Number.POSITIVE_INFINITY))
      t.ok(reply !== undefined, `the answer follows the question: ${JSON.stringify({ called, answered })}`)
      const [question] = over.transcript.filter((turn: Call) => turn.role === 'user')
      t.match(question.text, QUESTION)
      t.ok(durationMs > (reply?.endMs ?? Number.POSITIVE_INFINITY), 'it lasts to the end of the call')
      t.ok(Math.abs(durationMs - over.duration * 1_000) < 2_500, `${durationMs} ms, ${over.duration} s`)
    })
  })

  t.test('that calls it over a trunk', async (t) => {
    const phone = await startPhoneOnTrunk(t, client, agent.agent_id)
    const { body } = await client.post('/calls/outbound_call', {
      body: { agent_phone_number: '+14155550101', phone_number_to_dial: '+14155550177' },
    })
    await phone.event('CALL_ESTABLISHED')
    const read = async () => (await client.get(`/calls/${body.call_log_id}`)).body
    await waitUntil(async () => spoke(await read(), 'assistant').length > 0)
    await phone.say(quietThen(500, speech))
    await waitUntil(async () => spoke(await read(), 'user').includes(QUESTION))
    await waitUntil(async () => /nine to five/.test(spoke(await read(), 'assistant').join(' ')))
    await sleep(3_000)
    phone.command('hangup')
    await waitUntil(async () => (await read()).status === 'completed')
    t.match(await read(), { direction: 'outbound', end_reason: 'caller_hangup' })
    const heard = await phone.heard()
    t.ok(speechMs(heard) > 1_500, `the phone heard ${speechMs(heard)} ms of speech`)
  })
})

async function startPhoneOnTrunk(
  t: Parameters<typeof startBaresip>[0],
  client: ApiClient,
  agentId: string,
): Promise<Baresip> {
  const port = await freePort()
  await answerKeepAlive(port, async () => {
    await client.post('/trunks', {
      body: { name: 'phone', host: `127.0.0.1:${port}`, allowed_addresses: ['127.0.0.1'], countries: ['US'] },
    })
  })
  const phone = await startBaresip(t, { says: SILENCE, autoAnswer: true, port })
  await client.post('/phone-numbers', {
    body: { phone_number: '+14155550101', provider: 'sip', agent_id: agentId, trunk: 'phone' },
  })
  return phone
}

// biome-ignore lint/suspicious/noExplicitAny: a test reads any field
type Call = any

/** The only inbound call, once it is as wanted. */
async function onlyCall(client: ApiClient, wanted: (call: Call) => boolean): Promise<Call> {
  let call: Call
  await waitUntil(async () => {
    call = (await client.get('/calls/logs')).body.items.find((one: Call) => one.direction === 'inbound')
    return call !== undefined && wanted(call)
  })
  return call
}

/** Where somebody speaks; pauses under a second are part of it, and a click is no speech. */
function runsOfSpeech(samples: Int16Array): { startMs: number; endMs: number; ms: number }[] {
  const runs: { startMs: number; endMs: number; ms: number }[] = []
  for (let at = 0; at + 160 <= samples.length; at += 160) {
    if (speechMs(samples.subarray(at, at + 160)) === 0) continue
    const startMs = at / 8
    const last = runs.at(-1)
    if (last !== undefined && startMs - last.endMs < 1_000) {
      last.endMs = startMs + 20
      last.ms += 20
    } else runs.push({ startMs, endMs: startMs + 20, ms: 20 })
  }
  return runs.filter(({ ms }) => ms >= 100)
}

function spoke(call: Call, role: 'user' | 'assistant'): string[] {
  return call.transcript.filter((turn: Call) => turn.role === role).map((turn: Call) => turn.text)
}

/** Silence, the speech, and silence to the end of any call. */
const quietThen = (ms: number, speech: Int16Array): Int16Array =>
  saying([[ms, speech]], ms + 300_000 + speech.length / 8)

/** How much of it is louder than the noise of a line. */
function speechMs(samples: Int16Array): number {
  let frames = 0
  for (let at = 0; at + 160 <= samples.length; at += 160) {
    let sum = 0
    for (let i = at; i < at + 160; i++) sum += Math.abs(samples[i] ?? 0)
    if (sum / 160 > 200) frames++
  }
  return frames * 20
}
