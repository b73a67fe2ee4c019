import t from 'tap'
import { buildClient } from '../../support/browser.ts'
import { startFirefox, withoutFirefox } from '../../support/firefox.ts'
import type { Instance } from '../../support/instance.ts'
import { mediaWorker } from '../../support/media-worker.ts'
import { LONG_GREETING, logOf, openCall, type TestPage, wasCutShort } from '../../support/page-call.ts'
import { type SoundCard, startSoundCard, withoutSoundCard } from '../../support/sound-card.ts'
import { startWebRtcInstance } from '../../support/webrtc-instance.ts'

const QUESTION = 'Tell me more about your company.'

const { path, skip: withoutWorker } = await mediaWorker()
const skip = withoutFirefox || withoutSoundCard || withoutWorker
let instance: Instance
let page: TestPage
let card: SoundCard

if (!skip) {
  t.before(async () => {
    buildClient()
    card = await startSoundCard(t)
    ;[instance, page] = await Promise.all([startWebRtcInstance(t, path), startFirefox(t, card)])
  })
}

for (const transport of ['webrtc', 'websocket']) {
  t.test(`Firefox: a question is heard, answered, heard back and cut short, by ${transport}`, { skip }, async (t) => {
    const call = await openCall(t, instance, { page, card, transport, agent: { first_message: LONG_GREETING } })
    await call.heard()
    await call.ask(QUESTION, /company/i)
    await call.said('assistant', /family/)
    await call.heard(/family/)
    t.ok(await call.evaluate("told.some(([name]) => name === 'interrupted')"))
    t.same(await call.evaluate("told.filter(([name]) => name === 'error')"), [])
    t.match(await call.evaluate('call.stats()'), { transport, ...(transport === 'webrtc' && { protocol: 'udp' }) })
    await call.evaluate('call.end()')
    const log = await logOf(call)
    t.match(log, { status: 'completed', end_reason: 'caller_hangup' })
    t.ok(wasCutShort(log), log.transcript[0]?.text ?? 'nothing was said')
    t.ok(log.transcript.some(({ role, text }) => role === 'user' && /company/i.test(text)))
  })
}
