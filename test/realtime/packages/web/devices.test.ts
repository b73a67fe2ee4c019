import t from 'tap'
import { buildClient, withoutBrowser } from '../../../support/browser/browser.ts'
import { logOf, openCall } from '../../../support/browser/page-call.ts'
import { type Instance, startInstance } from '../../../support/instance/instance.ts'

let instance: Instance

t.before(async () => {
  buildClient()
  instance = await startInstance(t)
})

/** Keeps what the call opens where the test can take it away. */
const before = `
const Context = window.AudioContext
window.AudioContext = class extends Context {
  constructor(...args) {
    super(...args)
    window.context = this
  }
}
window.streams = []
const open = navigator.mediaDevices.getUserMedia.bind(navigator.mediaDevices)
navigator.mediaDevices.getUserMedia = async (wishes) => {
  if (window.isGone) throw new DOMException('none', 'NotFoundError')
  const stream = await open(wishes)
  streams.push(stream)
  return stream
}
`
const listen = `for (const name of ['playbackblocked', 'microphonemuted']) call.on(name, (value) => told.push([name, value, 0]))`
const end = (n: number) => `(() => {
  const [track] = streams[${n}].getAudioTracks()
  track.stop()
  track.dispatchEvent(new Event('ended'))
})()`

t.test('sound that the browser suspends is resumed, or a click is asked for', { skip: withoutBrowser }, async (t) => {
  const call = await openCall(t, instance, { transport: 'websocket', before })
  await call.evaluate(listen)
  await call.evaluate('context.suspend()')
  await call.comes("context.state === 'running'")
  t.same(await call.evaluate("told.filter(([name]) => name === 'playbackblocked')"), [], 'nobody is asked')
  await call.evaluate(`(() => {
    context.resume = () => new Promise(() => {})
    return context.suspend()
  })()`)
  await call.comes("told.some(([name, value]) => name === 'playbackblocked' && value === true)")
  await call.evaluate(`(() => {
    delete context.resume
    void call.resumePlayback()
  })()`)
  await call.comes("told.some(([name, value]) => name === 'playbackblocked' && value === false)")
  t.equal(await call.evaluate('call.state'), 'connected')
  await call.evaluate('call.end()')
  t.match(await logOf(call), { status: 'completed' })
})

t.test(
  'a microphone that goes is replaced by another, or missed aloud until one comes',
  { skip: withoutBrowser },
  async (t) => {
    const call = await openCall(t, instance, { transport: 'websocket', before })
    await call.evaluate(listen)
    await call.evaluate(end(0))
    await call.comes('streams.length === 2')
    await call.evaluate(`(() => {
    const [track] = streams[1].getAudioTracks()
    Object.defineProperty(track, 'muted', { value: true, configurable: true })
    track.dispatchEvent(new Event('mute'))
    delete track.muted
    track.dispatchEvent(new Event('unmute'))
  })()`)
    t.same(await call.evaluate("told.filter(([name]) => name === 'microphonemuted').map(([, is]) => is)"), [
      true,
      false,
    ])
    await call.evaluate('window.isGone = true')
    await call.evaluate(end(1))
    await call.comes("told.some(([name, value]) => name === 'error' && /The microphone is gone/.test(value))")
    t.equal(await call.evaluate('call.state'), 'connected')
    await call.evaluate(`(() => {
    window.isGone = false
    navigator.mediaDevices.dispatchEvent(new Event('devicechange'))
  })()`)
    await call.comes('streams.length === 3')
    await call.evaluate('call.end()')
    t.match(await logOf(call), { status: 'completed' })
  },
)
