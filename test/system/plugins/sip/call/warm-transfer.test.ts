import { setTimeout as sleep } from 'node:timers/promises'
import t from 'tap'
import { voiceWorkersOf } from '../../../../support/instance/instance.ts'
import { startSipInstance } from '../../../../support/instance/sip-instance.ts'
import { phoneSays, saying } from '../../../../support/phone/phone-says.ts'
import { recordingOf } from '../../../../support/phone/recording-of.ts'
import { type Baresip, skipWithout, startBaresip } from '../../../../support/sip/sip-peers.ts'
import { waitUntil } from '../../../../support/world/wait-until.ts'

/**
 * A caller, an agent and the people behind it, all real: softphones, speech, a Patchbay as an operator starts it. Who is called is
 * told of the caller first, and may refuse.
 */

const skip = skipWithout('baresip', 'espeak-ng')
const NUMBER = '+14155550100'
/** Callers press keys, which no busy machine mishears. */
const WANTS_DESK = ['0', '[The caller pressed 0 on the keypad]'] as const
const ASKS_AGAIN = ['5', '[The caller pressed 5 on the keypad]'] as const
const SUMMARY = 'Ann asks for her bill.'
/** Longer than any call lasts. */
const CALL_S = 300
const SILENCE = saying([], 1_000 * CALL_S)

// biome-ignore lint/suspicious/noExplicitAny: a test reads any field
type Body = any

t.test('a caller is led to a human who is told of them first', { skip }, async (t) => {
  const { instance, client, sipPort } = await startSipInstance(t, {
    PATCHBAY_RECORD_CALLS: 'true',
    PATCHBAY_DRAIN_MS: '60000',
  })
  const voices = new Map<string, Int16Array>()
  const say = async (text: string): Promise<Int16Array> => {
    const known = voices.get(text) ?? (await phoneSays(text))
    voices.set(text, known)
    return known
  }
  let desks = 0
  /** Somebody whom callers may be led to, and the number of an agent that does so when it is asked. */
  const addDesk = async (autoAnswer = true) => {
    const index = ++desks
    const name = `desk${index}`
    const { body: extension } = await client.post('/extensions', { body: { name } })
    const phone = await startBaresip(t, {
      ...{ says: SILENCE, autoAnswer },
      account: { username: extension.username, password: extension.password, server: `127.0.0.1:${sipPort}` },
    })
    await waitUntil(async () => (await client.get(`/extensions/${extension.extension_id}`)).body.phones?.length === 1)
    const tool = { name: 'to_desk', arguments: { summary: SUMMARY } }
    const { body: agent, status } = await client.post('/agents', {
      body: {
        ...{ agent_name: name, system_prompt: 'You answer for the Hotel Aurora.', first_message: 'Hotel Aurora!' },
        LLM_provider: 'sim',
        LLM_model: JSON.stringify({
          script: [
            { question: WANTS_DESK[1], answer: 'Nobody takes the call just now.', tool },
            { question: ASKS_AGAIN[1], answer: 'From nine to five.' },
          ],
        }),
        tools: [{ type: 'transfer', name: 'to_desk', description: 'To a human.', to: name, mode: 'warm' }],
      },
    })
    if (status !== 201) throw new Error(JSON.stringify(agent))
    const number = NUMBER.slice(0, -1) + index
    await client.post('/phone-numbers', { body: { phone_number: number, provider: 'sip', agent_id: agent.agent_id } })
    return { phone, number }
  }
  const call = async (number: string): Promise<Baresip> => {
    const caller = await startBaresip(t, { says: SILENCE })
    caller.command('dial', `sip:${number}@127.0.0.1:${sipPort}`)
    await caller.event('CALL_ESTABLISHED')
    await logOf(number, ({ transcript }) => transcript.length > 0)
    caller.command('sndcode', WANTS_DESK[0])
    return caller
  }
  /** The one call of a number, once it is as wanted. */
  const logOf = async (number: string, wanted: (call: Body) => boolean): Promise<Body> => {
    let found: Body
    await waitUntil(async () => {
      const { items } = (await client.get('/calls/logs')).body
      found = items.find((one: Body) => one.to_number === number && one.direction === 'inbound')
      return found !== undefined && wanted(found)
    })
    return found
  }
  const happened = async (callId: string, type: string): Promise<Body | undefined> => {
    const { items } = (await client.get(`/calls/${callId}/events?page_size=100`)).body
    return items.find((one: Body) => one.type === type)
  }
  /** Resolves once the desk was told of the caller, who hears music meanwhile. */
  const isAsked = async (desk: Baresip, caller: Baresip): Promise<void> => {
    await waitUntil(async () => speechMs(await desk.heardSoFar()) > 3_000)
    await waitUntil(async () => musicMs(await caller.heardSoFar()) > 3_000)
  }
  const isOver = ({ status }: Body) => status !== 'in_progress' && status !== 'ringing' && status !== 'queued'

  const saysYes = async (): Promise<void> => {
    const { phone, number } = await addDesk()
    const caller = await call(number)
    await phone.event('CALL_ESTABLISHED')
    await isAsked(phone, caller)
    await phone.say(repeated(await say('Yes, please.'), 2_000, 4_000))
    const { call_log_id } = await logOf(number, () => true)
    await waitUntil(async () => (await happened(call_log_id, 'transfer_done')) !== undefined)
    t.equal(await happened(call_log_id, 'fault'), undefined)
    const joinedAt = (await phone.heardSoFar()).length
    await caller.say(repeated(await say('How much does it cost?'), 500, 3_000))
    await waitUntil(async () => speechMs((await phone.heardSoFar()).subarray(joinedAt)) > 1_500)
    await sleep(9_000)
    await waitUntil(async () => speechMs((await caller.heardSoFar()).subarray(-8 * 8_000)) > 500)
    t.equal((await client.get(`/calls/${call_log_id}`)).body.status, 'in_progress', 'it is still the same call')
    t.equal((await client.post(`/calls/${call_log_id}/hangup`)).status, 200)
    await Promise.all([phone.event('CALL_CLOSED'), caller.event('CALL_CLOSED')])
    const over = await logOf(number, isOver)
    t.match(over, { status: 'completed', end_reason: 'api_hangup', disposition: 'transferred' })
    const told = await phone.heard()
    t.ok(speechMs(told.subarray(0, joinedAt)) > 3_000, `the desk was told: ${speechMs(told)} ms`)
    t.ok(speechMs(told.subarray(joinedAt)) > 1_500, 'the desk heard the caller')
    const heard = await caller.heard()
    t.ok(musicMs(heard) > 3_000, `the caller heard music: ${musicMs(heard)} ms`)
    t.ok(speechMs(heard.subarray(-8 * 8_000)) > 500, 'the caller heard the desk')
    const recording = await recordingOf(client, call_log_id)
    const end = recording.caller.length - 8 * 8_000
    t.ok(speechMs(recording.caller.subarray(end)) > 1_500, 'the recording has what the caller said to the desk')
    t.ok(speechMs(recording.agent.subarray(end)) > 500, 'and what the desk said')
  }

  const turnsOf = (over: Body, role: string): string =>
    over.transcript
      .filter((turn: Body) => turn.role === role)
      .map((turn: Body) => turn.text)
      .join(' ')

  /** The caller is back with the agent, who answers them. */
  const isBack = async (number: string, caller: Baresip, reason: RegExp) => {
    const { call_log_id } = await logOf(number, () => true)
    await waitUntil(async () => (await happened(call_log_id, 'transfer_failed')) !== undefined)
    const { reason: told } = await happened(call_log_id, 'transfer_failed')
    t.match(told, reason, `${told}: ${JSON.stringify(await happened(call_log_id, 'fault'))}`)
    await logOf(number, (one) => /Nobody takes the call/.test(turnsOf(one, 'assistant')))
    caller.command('sndcode', ASKS_AGAIN[0])
    const call = await logOf(number, (one) => /nine to five/.test(turnsOf(one, 'assistant')))
    t.match(turnsOf(call, 'assistant'), /Nobody takes the call just now/)
    caller.command('hangup')
    t.match(await logOf(number, isOver), { status: 'completed', end_reason: 'caller_hangup' })
  }

  const pressesTwo = async (): Promise<void> => {
    const { phone, number } = await addDesk()
    const caller = await call(number)
    await phone.event('CALL_ESTABLISHED')
    await isAsked(phone, caller)
    phone.command('sndcode', '2')
    await phone.event('CALL_CLOSED')
    await isBack(number, caller, /refused/)
    t.ok(musicMs(await caller.heard()) > 3_000, 'the caller heard music while the desk was asked')
  }

  const saysNothing = async (): Promise<void> => {
    const { number } = await addDesk()
    const caller = await call(number)
    await isBack(number, caller, /neither yes nor no/)
    t.ok(musicMs(await caller.heard()) > 3_000, 'the caller heard music while the desk said nothing')
  }

  const neverPicksUp = async (): Promise<void> => {
    const { phone, number } = await addDesk(false)
    const caller = await call(number)
    await phone.event('CALL_INCOMING')
    await isBack(number, caller, /answer/)
    await phone.event('CALL_CLOSED')
  }

  await t.test('who says yes: both talk, are recorded, and are hung up on over the API', saysYes)
  await t.test('who presses 2, says nothing or never picks up: the caller is back with the agent', async () => {
    await Promise.all([pressesTwo(), saysNothing(), neverPicksUp()])
  })

  await t.test(
    'the worker dies while it asks, and another asks anew; a Patchbay told to stop lets the two finish',
    async (t) => {
      const { phone, number } = await addDesk()
      const caller = await call(number)
      await phone.event('CALL_ESTABLISHED')
      await waitUntil(async () => speechMs(await phone.heardSoFar()) > 1_500)
      const workers = await voiceWorkersOf(instance)
      t.equal(workers.length, 1)
      for (const worker of workers) process.kill(worker, 'SIGKILL')
      const diedAt = (await phone.heardSoFar()).length
      await waitUntil(async () => speechMs((await phone.heardSoFar()).subarray(diedAt)) > 3_000)
      await phone.say(repeated(await say('Yes, please.'), 2_000, 4_000))
      const { call_log_id } = await logOf(number, () => true)
      await waitUntil(async () => (await happened(call_log_id, 'transfer_done')) !== undefined)
      t.match((await happened(call_log_id, 'fault'))?.sentence, /could not be announced by a voice worker/)
      const stopped = instance.stop('SIGTERM')
      await sleep(4_000)
      const closed = (of: Baresip) => of.events.some(({ type }) => type === 'CALL_CLOSED')
      t.notOk(closed(phone) || closed(caller), 'they talk on')
      caller.command('hangup')
      await phone.event('CALL_CLOSED')
      t.equal(await stopped, 0)
    },
  )
})

function repeated(speech: Int16Array, fromMs: number, everyMs: number): Int16Array {
  const words: [number, Int16Array][] = []
  for (let atMs = fromMs; atMs + speech.length / 8 < 1_000 * CALL_S; atMs += everyMs) words.push([atMs, speech])
  return saying(words, 1_000 * CALL_S)
}

const rms = (frame: Int16Array): number => Math.sqrt(frame.reduce((sum, one) => sum + one ** 2, 0) / frame.length)

/** How much of it is louder than the noise of a line. */
function speechMs(samples: Int16Array): number {
  let frames = 0
  for (let at = 0; at + 160 <= samples.length; at += 160) if (rms(samples.subarray(at, at + 160)) > 300) frames++
  return frames * 20
}

/** How much of it sounds without a pause, quieter than speech: the bell of the music. */
function musicMs(samples: Int16Array): number {
  let [frames, run] = [0, 0]
  for (let at = 0; at + 160 <= samples.length; at += 160) {
    const level = rms(samples.subarray(at, at + 160))
    run = level > 150 && level < 1_400 ? run + 1 : 0
    // Words pause within a second.
    if (run >= 50) frames += run === 50 ? 50 : 1
  }
  return frames * 20
}
