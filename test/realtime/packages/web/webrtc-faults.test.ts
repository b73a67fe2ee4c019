import type { Browser } from 'playwright-core'
import t from 'tap'
import { buildClient, startBrowser, withoutBrowser } from '../../../support/browser/browser.ts'
import { LIMIT_MS, logOf, openCall, outliveVoiceWorker } from '../../../support/browser/page-call.ts'
import { childrenWith, type Instance } from '../../../support/instance/instance.ts'
import { mediaWorker } from '../../../support/instance/media-worker.ts'
import { until } from '../../../support/instance/realtime-node.ts'
import { startWebRtcInstance } from '../../../support/instance/webrtc-instance.ts'
import { startFaultProxy } from '../../../support/world/fault-proxy.ts'

const QUESTION = 'Tell me more about your company.'
const SECOND = 'How much does delivery cost?'
const AWAY_MS = 10_000
const COMPLETED = { status: 'completed', end_reason: 'caller_hangup' }

const { path, skip: withoutWorker } = await mediaWorker()
const skip = withoutBrowser || withoutWorker
let instance: Instance
let browser: Browser

if (!skip) {
  t.before(async () => {
    buildClient()
    const starting = startWebRtcInstance(t, path, { PATCHBAY_VOICE_WORKERS: '2' })
    ;[instance, browser] = await Promise.all([starting, startBrowser(t, { speech: [] })])
  })
}

t.test('a media worker that dies is replaced, and the call goes on', { skip }, async (t) => {
  const call = await openCall(t, instance, { page: await browser.newPage(), transport: 'webrtc' })
  const [pid] = await childrenWith(instance, (command) => command.startsWith(path))
  t.ok(pid)
  process.kill(pid!, 'SIGKILL')
  await until(() => instance.output().includes('The media worker died'), instance.output, LIMIT_MS)
  await call.evaluate(`call.say(${JSON.stringify(SECOND)})`)
  await call.said('assistant', /three euros/)
  await call.heard()
  t.equal(await call.evaluate('call.state'), 'connected')
  await call.evaluate('call.end()')
  t.match(await logOf(call), COMPLETED)
})

t.test('a voice worker that dies takes nothing from the call', { skip }, async (t) => {
  const call = await openCall(t, instance, { page: await browser.newPage(), transport: 'webrtc' })
  t.match(await outliveVoiceWorker(call), COMPLETED)
})

t.test('a WebSocket that is cut for ten seconds takes no word, for the sound goes another way', { skip }, async (t) => {
  const proxy = await startFaultProxy(t, { port: Number(new URL(instance.url).port) })
  const call = await openCall(t, instance, { page: await browser.newPage(), port: proxy.port, transport: 'webrtc' })
  proxy.cut()
  await call.comes("call.state === 'reconnecting'")
  await call.speak(QUESTION)
  await call.heard()
  // A session is kept for twice as long.
  await proxy.mendAfter(AWAY_MS)
  await call.comes("call.state === 'connected'")
  await call.said('assistant', /family business/)
  await call.evaluate('call.end()')
  t.match(await logOf(call), COMPLETED)
})
