import t from 'tap'
import type { ServerMessage } from '../../../api/realtime/messages.ts'
import { dialAgent, finishedLog } from '../../../scripts/demo/call.ts'
import { RestClient } from '../../../scripts/demo/rest.ts'
import { axeFaults, startBrowsers, told, withoutChromium } from '../../support/browser/console.ts'
import { PASSWORD, userOf } from '../../support/browser/console-user.ts'
import { startInstance } from '../../support/instance/instance.ts'
import { waitUntil } from '../../support/world/wait-until.ts'

const EMAIL = 'ada@example.com'
const SCRIPT = [
  {
    question: 'I want to cancel',
    tool: { name: 'begin_procedure', arguments: { name: 'cancel' } },
    answer: 'Not said.',
  },
]

t.test(
  'a procedure is written in the console, and a call’s way through it is drawn',
  { skip: withoutChromium },
  async (t) => {
    const { url } = await startInstance(t)
    const open = await startBrowsers(t)
    const ada = userOf(url, EMAIL)
    await ada.enter('Ada Lovelace')
    const { agent_id } = await ada.ask('POST', '/agents', {
      ...{
        agent_name: 'Desk',
        first_message: 'Hello.',
        system_prompt: 'You are the desk.',
        dead_air: { enabled: false },
      },
      ...{ STT_provider: 'sim', TTS_provider: 'sim', TTS_voice: 'tone', LLM_provider: 'sim' },
      LLM_model: JSON.stringify({ script: SCRIPT }),
      collect: [{ name: 'phone', type: 'phone' }],
    })
    const { context, page, faults, strays } = await open(url)
    await context.addCookies(ada.cookies())
    const click = (name: string) => page.getByRole('button', { name, exact: true }).click()
    const fill = (label: string, value: string) => page.getByLabel(label, { exact: true }).fill(value)

    await page.goto(`${url}/console/agents/${agent_id}?tab=settings`)
    await click('Add a procedure')
    await fill('Name of the procedure', 'cancel')
    await fill('When it fits', 'The caller wants to cancel.')
    await fill('What the model reads then', 'Be kind.')
    await click('Add a step')
    await page.getByLabel('Kind of step 1').selectOption('collect')
    await click('Add a step')
    await fill('Sentence of step 2', 'It ends this month.')
    await click('Move step 2 up')
    await click('Save')
    await told(page, /Saved/)
    const { procedures } = await ada.ask<{ procedures: unknown }>('GET', `/agents/${agent_id}`)
    t.same(procedures, [
      {
        ...{ name: 'cancel', when: 'The caller wants to cancel.', text: 'Be kind.' },
        fixed: [{ say: 'It ends this month.' }, { collect: 'phone' }],
      },
    ])
    t.same(await axeFaults(page), [])

    const signal = AbortSignal.timeout(120_000)
    const rest = new RestClient(url)
    await rest.send('POST', '/auth/login', { email: EMAIL, password: PASSWORD })
    const { caller, callLogId } = await dialAgent(rest, agent_id, signal)
    t.teardown(() => caller.vanish())
    const said: string[] = []
    caller.on('message', (message: ServerMessage) => {
      if (message.type === 'transcript' && message.role === 'assistant' && message.final) said.push(message.text)
    })
    const heard = (text: string) =>
      waitUntil(
        () => said.some((one) => one.includes(text)),
        () => `"${text}" in ${JSON.stringify(said)}`,
      )
    await heard('Hello.')
    caller.type('I want to cancel')
    await heard('What is your phone number?')
    caller.type('+1 415 555 0123')
    await heard('You said: +1 415')
    await caller.hangUp(signal)
    await finishedLog(rest, callLogId, signal)

    await page.goto(`${url}/console/calls/${callLogId}`)
    const drawing = page.getByRole('figure', { name: 'Drawing of Desk' })
    const nodes = () => drawing.getByRole('list', { name: 'Procedure cancel' }).getByRole('listitem').allInnerTexts()
    await waitUntil(
      async () => (await nodes()).filter((text) => text.includes('(passed)')).length === 4,
      () => 'four nodes that were passed',
    )
    t.match(
      (await nodes()).join(' '),
      /Begins.*Say: It ends this month\..*Collect: phone\s*collected.*The model goes on/s,
    )
    await drawing.getByRole('list', { name: 'Collects' }).getByText('phone: +14155550123').waitFor()
    t.same(await axeFaults(page), [])
    t.same(faults, [])
    t.same(strays, [])
  },
)
