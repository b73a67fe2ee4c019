import t from 'tap'
import { buildClient, startBrowser, withoutBrowser } from '../../../support/browser/browser.ts'
import { logOf, openCall } from '../../../support/browser/page-call.ts'
import { pageEcho } from '../../../support/browser/page-echo.ts'
import { type Instance, startInstance } from '../../../support/instance/instance.ts'
import { mediaWorker } from '../../../support/instance/media-worker.ts'
import { startWebRtcInstance } from '../../../support/instance/webrtc-instance.ts'
import { type SoundCard, startSoundCard, withoutSoundCard } from '../../../support/phone/sound-card.ts'

const TYPED = 'Tell me more about your company.'
const SPOKEN = 'How much does delivery cost?'

const { path, skip: withoutWorker } = await mediaWorker()
const GREETING =
  'Welcome to the Harbour Bistro, where we have cooked fish on the pier for more than forty years. How can I help you?'
let instance: Instance
let card: SoundCard

t.before(async () => {
  if (withoutBrowser) return
  if (!withoutSoundCard) card = await startSoundCard(t)
  buildClient()
  instance = path === '' ? await startInstance(t) : await startWebRtcInstance(t, path)
})

for (const transport of ['webrtc', 'websocket']) {
  const skip = withoutBrowser || (transport === 'webrtc' && withoutWorker)
  t.test(
    `an agent on loudspeakers does not interrupt itself, by ${transport}`,
    { skip: skip || withoutSoundCard },
    async (t) => {
      const call = await openCall(t, instance, {
        transport,
        agent: { first_message: GREETING },
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
          { role: 'assistant', text: GREETING, interrupted: false },
          { role: 'user', text: TYPED },
          { role: 'assistant', text: /boats you see outside/, interrupted: false },
        ],
      )
      const heard = rest.filter(({ role }) => role === 'user').map(({ text }) => text)
      t.ok(
        heard.length > 0 && heard.every((text) => SPOKEN.startsWith(text.replace(/\W+$/, ''))),
        `but the caller: ${heard}`,
      )
    },
  )
  t.test(`nor where no browser cancels its echo, and its caller is heard, by ${transport}`, { skip }, async (t) => {
    const browser = await startBrowser(t, { speech: [] })
    const call = await openCall(t, instance, {
      page: await browser.newPage(),
      transport,
      agent: { first_message: GREETING },
      before: pageEcho({ lossDb: 6, delayMs: 150 }),
    })
    await call.said('assistant', /help you/)
    await call.comes("call.agentState === 'listening'")
    await call.evaluate(`call.say(${JSON.stringify(TYPED)})`)
    await call.said('assistant', /family business/)
    await call.ask(SPOKEN, /delivery/i)
    await call.said('assistant', /three euros/)
    await call.evaluate('call.end()')
    const { transcript } = await logOf(call)
    t.match(transcript, [
      { role: 'assistant', text: GREETING, interrupted: false },
      { role: 'user', text: TYPED },
      { role: 'assistant', text: /family business/ },
    ])
    const heard = transcript.filter(({ role }) => role === 'user').map(({ text }) => text)
    t.ok(
      heard.slice(1).every((text) => SPOKEN.startsWith(text.replace(/\W+$/, ''))),
      `and nothing but the caller is heard: ${heard}`,
    )
  })
}
