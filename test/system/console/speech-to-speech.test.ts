import t from 'tap'
import { dialAgent, finishedLog } from '../../../scripts/demo/call.ts'
import { Conversation } from '../../../scripts/demo/conversation.ts'
import { RestClient } from '../../../scripts/demo/rest.ts'
import { axeFaults, overflowPx, startBrowsers, told, withoutChromium } from '../../support/browser/console.ts'
import { PASSWORD, userOf } from '../../support/browser/console-user.ts'
import { startInstance } from '../../support/instance/instance.ts'
import { startDoubles } from '../../support/providers/doubles/start.ts'

const EMAIL = 'ada@example.com'
const QUESTION = 'How much does delivery cost?'
const WIDTHS = [390, 1280, 1920]

t.test(
  'a speech-to-speech model is one choice with what takes its place, and a call shows what it took and cost',
  { skip: withoutChromium },
  async (t) => {
    const doubles = await startDoubles()
    t.teardown(doubles.stop)
    const { url } = await startInstance(t, doubles.env)
    const open = await startBrowsers(t)
    const ada = userOf(url, EMAIL)
    await ada.enter('Ada Lovelace')
    const { agent_id } = await ada.ask('POST', '/agents', {
      ...{ agent_name: 'Desk', first_message: 'Hello.', system_prompt: 'Delivery costs three euros anywhere in town.' },
      ...{ LLM_provider: 'openai', LLM_model: 'gpt-5.4-mini', STT_provider: 'deepgram', TTS_provider: 'openai' },
      ...{ TTS_voice: 'marin', dead_air: { enabled: false } },
    })
    const english = await open(url)
    const german = await open(url, { locale: 'de-DE' })
    for (const { context } of [english, german]) await context.addCookies(ada.cookies())
    const looksRight = async (name: string): Promise<void> => {
      for (const [language, { page }] of Object.entries({ english, german })) {
        for (const width of WIDTHS) {
          await page.setViewportSize({ width, height: 900 })
          const overflow = await overflowPx(page)
          t.ok(overflow <= 0, `${name} in ${language} at ${width}: ${overflow} px too wide`)
        }
        t.same(await axeFaults(page), [], `${name} in ${language}`)
      }
    }

    await english.page.goto(`${url}/console/agents/${agent_id}?tab=settings`)
    const thinks = english.page
      .locator('section')
      .filter({ has: english.page.getByRole('heading', { name: 'Thinks' }) })
    await thinks.getByLabel('Model', { exact: true }).fill('gpt-realtime-2.1')
    await thinks.getByText('If it fails in a call, gpt-').waitFor()
    await thinks.getByText('answers in the voice of this agent.').waitFor()
    await thinks.getByLabel('What callers say is written by').selectOption('model')
    await english.page.getByRole('button', { name: 'Save', exact: true }).click()
    await told(english.page, /Saved/)
    t.match(await ada.ask('GET', `/agents/${agent_id}`), { LLM_model: 'gpt-realtime-2.1', transcribe: 'model' })
    await german.page.goto(`${url}/console/agents/${agent_id}?tab=settings`)
    await german.page.getByText('antwortet').first().waitFor()
    await looksRight('agent')

    const signal = AbortSignal.timeout(120_000)
    const rest = new RestClient(url)
    await rest.send('POST', '/auth/login', { email: EMAIL, password: PASSWORD })
    const { caller, callLogId } = await dialAgent(rest, agent_id, signal)
    t.teardown(() => caller.vanish())
    const conversation = new Conversation(caller, () => {}, signal)
    await conversation.greeting()
    await conversation.ask({ text: QUESTION, expects: '' })
    await conversation.agentDone()
    await caller.hangUp(signal)
    await finishedLog(rest, callLogId, signal)

    const { usage } = await ada.ask<{ usage: { input: { audio: number }; output: { audio: number } } }>(
      'GET',
      `/calls/${callLogId}`,
    )
    await english.page.goto(`${url}/console/calls/${callLogId}`)
    await german.page.goto(`${url}/console/calls/${callLogId}`)
    const waits = english.page.getByRole('img', { name: /^End of turn .*, Listening .*, Model with its own voice \d/ })
    await waits.waitFor()
    t.equal(await english.page.getByText('Thinking', { exact: true }).count(), 1, 'in the table of costs alone')
    const sound = `of these ${usage.input.audio} + ${usage.output.audio} of sound`
    await english.page.getByText(sound).waitFor()
    await german.page.getByText(`davon ${usage.input.audio} + ${usage.output.audio} Klang`).waitFor()
    await german.page.getByText('Modell mit eigener Stimme').waitFor()
    await looksRight('call')
    for (const { faults, strays } of [english, german]) {
      t.same(faults, [])
      t.same(strays, [])
    }
  },
)
