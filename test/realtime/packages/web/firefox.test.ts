import t from 'tap'
import { buildClient } from '../../../support/browser/browser.ts'
import { startFirefox, withoutFirefox } from '../../../support/browser/firefox.ts'
import { LONG_GREETING, logOf, openCall, type TestPage, wasCutShort } from '../../../support/browser/page-call.ts'
import { spokenSides } from '../../../support/browser/page-recording.ts'
import type { Instance } from '../../../support/instance/instance.ts'
import { mediaWorker } from '../../../support/instance/media-worker.ts'
import { startWebRtcInstance } from '../../../support/instance/webrtc-instance.ts'
import { type SoundCard, startSoundCard, withoutSoundCard } from '../../../support/phone/sound-card.ts'
import { startFaultProxy } from '../../../support/world/fault-proxy.ts'

const QUESTION = 'Tell me more about your company.'
const SECOND = 'How much does delivery cost?'
const AWAY_MS = 10_000

const { path, skip: withoutWorker } = await mediaWorker()
const skip = withoutFirefox || withoutSoundCard || withoutWorker
let instance: Instance
let page: TestPage
let card: SoundCard

if (!skip) {
  t.before(async () => {
    buildClient()
    card = await startSoundCard(t)
    const starting = startWebRtcInstance(t, path, { PATCHBAY_RECORD_CALLS: 'true' })
    ;[instance, page] = await Promise.all([starting, startFirefox(t, card)])
  })
}

for (const transport of ['webrtc', 'websocket']) {
  t.test(`Firefox: a question is heard, answered, heard back and cut short, by ${transport}`, { skip }, async (t) => {
    const call = await openCall(t, instance, { page, card, transport, agent: { first_message: LONG_GREETING } })
    await call.heard()
    await call.ask(QUESTION, /company/i)
    await call.said('assistant', /family/)
    await call.heard('assistant', /family/)
    t.ok(await call.evaluate("told.some(([name]) => name === 'interrupted')"))
    t.same(await call.evaluate("told.filter(([name]) => name === 'error')"), [])
    // Which of ours a browser takes is its affair: on a busy machine the check over TCP may be back first.
    t.match(await call.evaluate('call.stats()'), {
      transport,
      ...(transport === 'webrtc' && { protocol: /^(udp|tcp)$/ }),
    })
    await call.evaluate('call.end()')
    const log = await logOf(call)
    t.match(log, { status: 'completed', end_reason: 'caller_hangup' })
    t.ok(wasCutShort(log), log.transcript[0]?.text ?? 'nothing was said')
    t.ok(log.transcript.some(({ role, text }) => role === 'user' && /company/i.test(text)))
    const { caller, agent } = await spokenSides(call)
    t.ok(caller > 0.5 && agent > 0.5, `the caller speaks for ${caller} s of the recording, the agent for ${agent} s`)
  })
}

t.test('Firefox: a WebSocket that is cut for ten seconds ends no call', { skip }, async (t) => {
  const proxy = await startFaultProxy(t, { port: Number(new URL(instance.url).port) })
  const call = await openCall(t, instance, { page, card, port: proxy.port, transport: 'webrtc' })
  await call.ask(QUESTION, /company/i)
  await call.said('assistant', /family business/)
  proxy.cut()
  await call.comes("call.state === 'reconnecting'")
  await call.speak(SECOND)
  // A session is kept for twice as long.
  await proxy.mendAfter(AWAY_MS)
  await call.comes("call.state === 'connected'")
  await call.ask(SECOND, /delivery/i)
  await call.said('assistant', /three euros/)
  await call.evaluate('call.end()')
  t.match(await logOf(call), { status: 'completed', end_reason: 'caller_hangup' })
})
