import t from 'tap'
import { killVoiceWorker } from '../../../scripts/demo/call.ts'
import { buildClient, withoutBrowser } from '../../support/browser.ts'
import { childrenOf, commandLineOf, type Instance, startInstance } from '../../support/instance.ts'
import { mediaWorker } from '../../support/media-worker.ts'
import { LIMIT_MS, logOf, openCall, startProxy } from '../../support/page-call.ts'
import { until } from '../../support/realtime-node.ts'

const QUESTION = 'Tell me more about your company.'
const SECOND = 'How much does delivery cost?'
const AWAY_MS = 10_000
/** The microphone begins before the session does, and how long that takes is the machine's affair. */
const UNTIL_HEARD = [6_000, QUESTION, 12_000, QUESTION, 12_000, QUESTION, 120_000]

const { path, skip: withoutWorker } = await mediaWorker()
const skip = withoutBrowser || withoutWorker
let instance: Instance

if (!skip) {
  t.before(async () => {
    buildClient()
    instance = await startInstance(t, {
      PATCHBAY_VOICE_WORKERS: '2',
      PATCHBAY_WEBRTC: 'auto',
      PATCHBAY_WEBRTC_WORKER: path,
    })
    await until(() => instance.output().includes('Web calls use WebRTC'), instance.output, LIMIT_MS)
  })
}

t.test('a spoken question is heard over WebRTC, answered and heard back', { skip }, async (t) => {
  const call = await openCall(t, instance, { speech: UNTIL_HEARD, transport: 'webrtc' })
  await call.said('user', /company/i)
  await call.said('assistant', /family business/)
  await until(() => call.evaluate('loudest > 0.01'), undefined, LIMIT_MS)
  t.match(await call.evaluate('call.stats()'), { transport: 'webrtc', loss: Number, jitterMs: Number })
  await call.evaluate("call.press('5')")
  await call.evaluate('call.end()')
  t.match(await logOf(call), { status: 'completed', end_reason: 'caller_hangup', quality: { codec: 'opus' } })
})

t.test('who speaks while the agent speaks is heard, and the agent falls silent', { skip }, async (t) => {
  // Each answer lasts longer than the pause before the next question.
  const speech = [...UNTIL_HEARD.slice(0, -1), 3_500, SECOND, 120_000]
  const call = await openCall(t, instance, { speech, transport: 'webrtc' })
  await call.said('assistant', /three euros/)
  t.ok(await call.evaluate("told.some(([name]) => name === 'interrupted')"))
  await call.evaluate('call.end()')
  const { transcript } = await logOf(call)
  t.ok(transcript.some(({ role, interrupted }) => role === 'assistant' && interrupted))
})

t.test('a media worker that dies is replaced, and the call goes on', { skip }, async (t) => {
  const call = await openCall(t, instance, { speech: [120_000], transport: 'webrtc' })
  const children = await childrenOf(instance.child.pid)
  const commands = await Promise.all(children.map(async (pid) => [pid, await commandLineOf(pid)] as const))
  const [pid] = commands.find(([, command]) => command.startsWith(path)) ?? []
  t.ok(pid)
  process.kill(pid!, 'SIGKILL')
  await until(() => instance.output().includes('The media worker died'), instance.output, LIMIT_MS)
  await call.evaluate('loudest = 0')
  await call.evaluate(`call.say(${JSON.stringify(SECOND)})`)
  await call.said('assistant', /three euros/)
  await until(() => call.evaluate('loudest > 0.01'), undefined, LIMIT_MS)
  t.equal(await call.evaluate('call.state'), 'connected')
  await call.evaluate('call.end()')
  t.match(await logOf(call), { status: 'completed', end_reason: 'caller_hangup' })
})

t.test('a voice worker that dies takes nothing from the call', { skip }, async (t) => {
  const call = await openCall(t, instance, { speech: [120_000], transport: 'webrtc' })
  await call.evaluate(`call.say(${JSON.stringify(QUESTION)})`)
  await call.said('assistant', /family business/)
  await killVoiceWorker(call.rest, call.callLogId, () => undefined, AbortSignal.timeout(LIMIT_MS))
  await call.evaluate(`call.say(${JSON.stringify(SECOND)})`)
  await call.said('assistant', /three euros/)
  t.equal(await call.evaluate('call.state'), 'connected')
  await call.evaluate('call.end()')
  t.match(await logOf(call), { status: 'completed', end_reason: 'caller_hangup' })
})

t.test('a WebSocket that is cut for ten seconds takes no word, for the sound goes another way', { skip }, async (t) => {
  const proxy = await startProxy(t, Number(new URL(instance.url).port))
  const call = await openCall(t, instance, {
    speech: UNTIL_HEARD,
    port: proxy.port,
    transport: 'webrtc',
  })
  proxy.cut()
  await until(() => call.evaluate("call.state === 'reconnecting'"), undefined, LIMIT_MS)
  await until(
    () => call.evaluate('loudest > 0.01'),
    () => 'the agent, who is still heard',
    LIMIT_MS,
  )
  await new Promise((resolve) => setTimeout(resolve, AWAY_MS))
  proxy.mend()
  await until(() => call.evaluate("call.state === 'connected'"), undefined, LIMIT_MS)
  await call.said('assistant', /family business/)
  await call.evaluate('call.end()')
  t.match(await logOf(call), { status: 'completed', end_reason: 'caller_hangup' })
})
