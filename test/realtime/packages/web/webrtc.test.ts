import type { Browser } from 'playwright-core'
import t from 'tap'
import { buildClient, startBrowser, withoutBrowser } from '../../../support/browser/browser.ts'
import { LONG_GREETING, logOf, openCall, wasCutShort } from '../../../support/browser/page-call.ts'
import { mediaWorker } from '../../../support/instance/media-worker.ts'
import { startWebRtcInstance } from '../../../support/instance/webrtc-instance.ts'
import { startUdpRelay } from '../../../support/phone/udp-relay.ts'
import { startFaultProxy } from '../../../support/world/fault-proxy.ts'

const QUESTION = 'Tell me more about your company.'
const SECOND = 'How much does delivery cost?'
const BACK_MS = 4_000
/** Counts the time that the page had until the call is back: while a busy machine leaves it none, none passes. */
const COUNT_MS = `window.ownMs = 0; setInterval(() => { ownMs += 50 }, 50)
  call.on('state', (state) => { if (state === 'connected') window.backMs ??= ownMs })`
/** A browser that nobody asks takes longer to find that a way is dead. */
const UNASKED_MS = 12_000
const COMPLETED = { status: 'completed', end_reason: 'caller_hangup' }

const { path, skip: withoutWorker } = await mediaWorker()
const skip = withoutBrowser || withoutWorker
let instance: Awaited<ReturnType<typeof startWebRtcInstance>>
let browser: Browser

if (!skip) {
  t.before(async () => {
    buildClient()
    ;[instance, browser] = await Promise.all([startWebRtcInstance(t, path), startBrowser(t, { speech: [] })])
  })
}

t.test('a spoken question is heard over WebRTC, answered and heard back', { skip }, async (t) => {
  // The microphone begins before the session does, and how long that takes is the machine's affair.
  const speech = [6_000, QUESTION, 12_000, QUESTION, 12_000, QUESTION, 120_000]
  const call = await openCall(t, instance, { speech, transport: 'webrtc' })
  await call.said('user', /company/i)
  await call.said('assistant', /family business/)
  await call.heard()
  t.match(await call.evaluate('call.stats()'), {
    transport: 'webrtc',
    protocol: 'udp',
    loss: Number,
    jitterMs: Number,
  })
  await call.evaluate("call.press('5')")
  await call.evaluate('call.end()')
  t.match(await logOf(call), { ...COMPLETED, quality: { codec: 'opus' } })
})

t.test('who speaks while the agent speaks is heard, and the agent falls silent', { skip }, async (t) => {
  const agent = { first_message: LONG_GREETING }
  const call = await openCall(t, instance, { page: await browser.newPage(), transport: 'webrtc', agent })
  await call.heard()
  await call.ask(QUESTION, /company/i)
  await call.said('assistant', /family business/)
  t.ok(await call.evaluate("told.some(([name]) => name === 'interrupted')"))
  await call.evaluate('call.end()')
  const log = await logOf(call)
  t.ok(wasCutShort(log), log.transcript[0]?.text ?? 'nothing was said')
})

t.test('a browser whose network lets no UDP out talks over TCP', { skip }, async (t) => {
  const args = ['--webrtc-ip-handling-policy=disable_non_proxied_udp']
  const call = await openCall(t, instance, { args, transport: 'webrtc' })
  await call.ask(QUESTION, /company/i)
  await call.said('assistant', /family business/)
  await call.heard()
  t.match(await call.evaluate('call.stats()'), { transport: 'webrtc', protocol: 'tcp', roundTripMs: Number })
  await call.evaluate('call.end()')
  t.match(await logOf(call), { ...COMPLETED, quality: { codec: 'opus' } })
})

/** Offers name this port of UDP, as they do of what a network reaches, and no other; `overTcp`: and those of TCP. */
const REACHED_BY = String.raw`
const take = RTCPeerConnection.prototype.setRemoteDescription
RTCPeerConnection.prototype.setRemoteDescription = function ({ type, sdp }) {
  const isOther = (line) => line.startsWith('a=candidate:') && !(window.overTcp && line.includes(' tcp '))
  const lines = sdp.split('\r\n').filter((line) => !isOther(line))
  lines.splice(-2, 0, 'a=candidate:1 1 udp 2130706431 127.0.0.1 ' + way + ' typ host')
  return take.call(this, { type, sdp: lines.join('\r\n') })
}
`

t.test(
  'a call whose network lets no UDP through any more goes on over TCP before the browser notices',
  { skip },
  async (t) => {
    const relay = await startUdpRelay(t, instance.mediaPort)
    const before = `window.way = ${relay.port}; window.overTcp = true; ${REACHED_BY}`
    const call = await openCall(t, instance, { page: await browser.newPage(), before, transport: 'webrtc' })
    await call.ask(QUESTION, /company/i)
    await call.heard()
    t.match(await call.evaluate('call.stats()'), { protocol: 'udp' })
    await call.evaluate(`${COUNT_MS}; window.cutMs = performance.now()`)
    relay.cut()
    const lost = "told.find(([, state, atMs]) => state === 'reconnecting' && atMs > cutMs)"
    const back = `told.find(([, state, atMs]) => state === 'connected' && atMs > ${lost}?.[2])`
    await call.comes(back)
    const backMs = await call.evaluate<number>('backMs')
    t.ok(backMs < UNASKED_MS, `${backMs} ms`)
    await call.ask(SECOND, /delivery/i)
    await call.said('assistant', /three euros/)
    await call.heard('user', /delivery/i)
    t.match(await call.evaluate('call.stats()'), { protocol: 'tcp' })
    t.same(await call.evaluate("told.filter(([name]) => name === 'error')"), [])
    await call.evaluate('call.end()')
    t.match(await logOf(call), COMPLETED)
  },
)

t.test('a call goes on within four seconds when its network is another one', { skip }, async (t) => {
  const proxy = await startFaultProxy(t, { port: Number(new URL(instance.url).port) })
  const [first, second] = [await startUdpRelay(t, instance.mediaPort), await startUdpRelay(t, instance.mediaPort)]
  const before = `window.way = ${first.port}; ${REACHED_BY}`
  const call = await openCall(t, instance, {
    page: await browser.newPage(),
    before,
    port: proxy.port,
    transport: 'webrtc',
  })
  await call.ask(QUESTION, /company/i)
  await call.heard()
  await call.evaluate(`way = ${second.port}; ${COUNT_MS}; window.leftMs = performance.now()`)
  first.cut()
  proxy.silence()
  await call.comes("told.some(([, state, atMs]) => state === 'connected' && atMs > leftMs)")
  const backMs = await call.evaluate<number>('backMs')
  t.ok(backMs < BACK_MS, `${backMs} ms`)
  await call.ask(SECOND, /delivery/i)
  await call.said('assistant', /three euros/)
  await call.heard('user', /delivery/i)
  t.same(await call.evaluate("told.filter(([name]) => name === 'error')"), [])
  await call.evaluate('call.end()')
  t.match(await logOf(call), COMPLETED)
})
