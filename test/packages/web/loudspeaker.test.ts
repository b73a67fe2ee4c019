import t from 'tap'
import { buildClient, withoutBrowser } from '../../support/browser.ts'
import { type Instance, startInstance } from '../../support/instance.ts'
import { mediaWorker } from '../../support/media-worker.ts'
import { logOf, openCall } from '../../support/page-call.ts'
import { type SoundCard, startSoundCard, withoutSoundCard } from '../../support/sound-card.ts'
import { startWebRtcInstance } from '../../support/webrtc-instance.ts'

const TYPED = 'Tell me more about your company.'
const SPOKEN = 'How much does delivery cost?'

const { path, skip: withoutWorker } = await mediaWorker()
const skips = withoutBrowser || withoutSoundCard
let instance: Instance
let card: SoundCard

t.before(async () => {
  if (skips) return
  card = await startSoundCard(t)
  buildClient()
  instance = path === '' ? await startInstance(t) : await startWebRtcInstance(t, path)
})

for (const transport of ['webrtc', 'websocket']) {
  const skip = skips || (transport === 'webrtc' && withoutWorker)
  t.test(`an agent on loudspeakers does not interrupt itself, by ${transport}`, { skip }, async (t) => {
    const greeting =
      'Welcome to the Harbour Bistro, where we have cooked fish on the pier for more than forty years. How can I help you?'
    const call = await openCall(t, instance, {
      transport,
      agent: { first_message: greeting },
      card,
    })
    const hasSaid = (words: RegExp) =>
      call.comes(
        `call.agentState === 'listening' && told.some(([name, one]) => name === 'transcript' && one.final && ${words}.test(one.text))`,
      )
    await hasSaid(/help you/)
    await call.evaluate(`call.say(${JSON.stringify(TYPED)})`)
    await hasSaid(/boats you see outside/)
    t.same(await call.evaluate("told.filter(([name]) => name === 'interrupted')"), [])
    await call.ask(SPOKEN, /delivery/i)
    await call.said('assistant', /three euros/)
    await call.evaluate('call.end()')
    const { transcript } = await logOf(call)
    const [first, second, third, ...rest] = transcript.map(({ role, text, interrupted }) => ({
      role,
      text,
      interrupted,
    }))
    t.match(
      [first, second, third],
      [
        { role: 'assistant', text: greeting, interrupted: false },
        { role: 'user', text: TYPED },
        { role: 'assistant', text: /boats you see outside/, interrupted: false },
      ],
    )
    const heard = rest.filter(({ role }) => role === 'user').map(({ text }) => text)
    t.ok(
      heard.length > 0 && heard.every((text) => SPOKEN.startsWith(text.replace(/\W+$/, ''))),
      `but the caller: ${heard}`,
    )
  })
}
