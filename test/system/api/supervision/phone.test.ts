import t from 'tap'
import { until } from '../../../support/instance/realtime-node.ts'
import { callWhen } from '../../../support/phone/phone.ts'
import { phoneSays, saying } from '../../../support/phone/phone-says.ts'
import { startTestVoice } from '../../../support/phone/voice.ts'
import { type Asked, startChatServer } from '../../../support/providers/chat-server.ts'
import { skipWithout, startBaresip } from '../../../support/sip/sip-peers.ts'
import { addSipNumber, startSipApi } from '../../../support/sip/sip-phone.ts'
import { ownTime } from '../../../support/world/own-time.ts'
import { Supervisor } from '../../../support/world/supervisor.ts'
import { waitUntil } from '../../../support/world/wait-until.ts'

/** A softphone's caller, an agent, and a supervisor who takes the one from the other. */

const skip = skipWithout('baresip', 'espeak-ng')
const QUESTION = 'What are your opening hours?'
const SUMMARY = 'A table on Monday was agreed'
const CALL_MS = 600_000
/** Again and again, so that it is said while the supervisor has the call, too. */
const EVERY_MS = 9_000
/** Of the supervisor: a sound that stands still, as no voice and no tone of a telephone does. */
const LEVEL = 9_000
const TIMEOUT_MS = 300_000

t.test(
  'a supervisor takes a telephone call over, speaks, and gives it back to an agent that knows',
  { skip, timeout: 800_000 },
  async (t) => {
    const asked: Asked[] = []
    const { env } = await startChatServer(t, (body) => {
      asked.push(body)
      return 'Then Monday it is.'
    })
    const sip = await startSipApi(t, { env })
    await startTestVoice(t, sip.api, env)
    const { number, agentId } = await addSipNumber(sip)
    const { client } = sip.user
    const changed = await client.patch(`/agents/${agentId}`, {
      body: { LLM_provider: 'openai', LLM_model: 'gpt-4o-mini' },
    })
    t.equal(changed.status, 200, changed.text)

    const question = await phoneSays(QUESTION)
    const times = Array.from({ length: (CALL_MS - 10_000) / EVERY_MS }, (_, i) => 2_000 + i * EVERY_MS)
    const words = times.map((atMs) => [atMs, question] as const)
    const phone = await startBaresip(t, { says: saying(words, CALL_MS) })
    phone.command('dial', `sip:${number}@127.0.0.1:${sip.sipPort}`)
    await phone.event('CALL_ESTABLISHED')
    const callId: string = (await client.get('/calls/logs')).body.items[0].call_log_id
    await callWhen(sip.user, callId, ({ status }) => status === 'in_progress')

    const supervisor = await Supervisor.listen(client, callId)
    t.teardown(() => supervisor.socket.terminate())
    t.equal(supervisor.sampleRateHz, 8_000, 'as the line is')
    // Between two questions: what was asked before the supervisor has the call is still being thought about.
    await waitUntil(() => asked.length > 0)
    supervisor.send({ type: 'take_over' })
    await supervisor.happened('took_over')
    const before = asked.length
    const turns = supervisor.events('turn').length
    const endMs = performance.now() + TIMEOUT_MS
    const spokenMs = await supervisor.speak(LEVEL, (ms) => {
      if (performance.now() > endMs) throw new Error('No turn of the caller was written down')
      return ms >= 2_000 && supervisor.events('turn').length > turns
    })
    t.equal(asked.length, before, 'nobody but the supervisor answers')
    supervisor.send({ type: 'give_back', summary: SUMMARY })
    await until(
      () => asked.length > before,
      () => JSON.stringify(supervisor.messages),
      TIMEOUT_MS,
    )
    const context = JSON.stringify(asked[before]?.messages)
    t.match(context, SUMMARY)
    t.match(context, QUESTION, 'what the caller told the supervisor')

    await t.test('and one whose connection dies gives it back within five seconds', async (t) => {
      supervisor.send({ type: 'take_over' })
      await supervisor.happened('took_over', 2)
      const watching = await Supervisor.listen(client, callId)
      const tookMs = ownTime(t)
      // No close frame: the process is gone, or its network.
      supervisor.socket.terminate()
      await watching.happened('gave_back')
      t.ok(tookMs() < 5_000, `${tookMs()} ms`)
      const answered = asked.length
      watching.socket.close()
      await waitUntil(() => asked.length > answered)
      t.match(JSON.stringify(asked.at(-1)?.messages), SUMMARY, 'the agent talks with the caller again')
    })

    phone.command('hangup')
    const level = longestSteadyMs(await phone.heard())
    t.ok(level > Math.min(1_000, spokenMs / 2), `the phone heard ${level} ms of the supervisor's ${spokenMs}`)
  },
)

/** Of samples at 8 kHz near that level, the longest run in ms, what jitter takes out of it aside. */
function longestSteadyMs(samples: Int16Array): number {
  let [longest, run, others] = [0, 0, 0]
  for (const sample of samples) {
    if (Math.abs(sample - LEVEL) < LEVEL / 8) {
      run++
      others = 0
    } else if (++others > 8 * 60) run = 0
    longest = Math.max(longest, run)
  }
  return longest / 8
}
