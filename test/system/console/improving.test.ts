import t from 'tap'
import { RestClient } from '../../../scripts/demo/rest.ts'
import { AGENT } from '../../../scripts/demo/script.ts'
import { openStore } from '../../../store/database/database.ts'
import { startBrowsers, told, withoutChromium } from '../../support/browser/console.ts'
import { PASSWORD, userOf } from '../../support/browser/console-user.ts'
import { startInstance } from '../../support/instance/instance.ts'
import { testDatabase } from '../../support/instance/services.ts'
import { askAboutDelivery } from '../../support/world/ask-about-delivery.ts'
import { writeWorseCalls } from '../../support/world/rollout-calls.ts'
import { waitUntil } from '../../support/world/wait-until.ts'

const LIMIT_MS = 60_000
const CALL_MS = 300_000
const EMAIL = 'ada@example.com'

/** From a bad call to a guarded rollout, in the console and without a key. */
t.test(
  'a bad call becomes a test, a better version, and a rollout that its guard stops',
  {
    skip: withoutChromium,
  },
  async (t) => {
    const databaseUrl = await testDatabase(t)
    const { url } = await startInstance(t, {
      ...{ DATABASE_URL: databaseUrl, JWT_API_SECRET: 'a secret of at least 32 characters' },
      PATCHBAY_DATA_KEY: 'a data key of at least 32 characters',
      PATCHBAY_RECORD_CALLS: 'true',
    })
    const store = openStore({ databaseUrl, maxConnections: 2 })
    t.teardown(() => store.close())
    const open = await startBrowsers(t)
    const ada = userOf(url, EMAIL)
    await ada.enter('Ada Lovelace')
    const { agent_id } = await ada.ask('POST', '/agents', { ...AGENT, publishing: 'manual' })

    // A caller asks aloud what delivery costs, hears the old price and hangs up.
    const rest = new RestClient(url)
    await rest.send('POST', '/auth/login', { email: EMAIL, password: PASSWORD })
    const callLogId = await askAboutDelivery(t, rest, agent_id, CALL_MS)

    const { context, page, faults, strays } = await open(url)
    page.setDefaultTimeout(LIMIT_MS)
    await context.addCookies(ada.cookies())
    const click = (name: string) => page.getByRole('button', { name, exact: true }).click()
    const dialog = page.getByRole('dialog')
    const link = (name: string) => page.getByRole('link', { name, exact: true }).first().click()

    await t.test('the recorded call becomes a test with the voice of its caller', async () => {
      await waitUntil(
        async () =>
          (await rest.send<{ recording_url: string | null }>('GET', `/calls/${callLogId}`)).recording_url !== null,
        () => 'the recording',
      )
      await page.goto(`${url}/console/calls/${callLogId}`)
      await click('More')
      await page.getByRole('menuitem', { name: 'Make a test with the caller’s voice' }).click()
      const yaml = page.getByLabel('Test', { exact: true })
      await yaml.waitFor()
      t.match(await yaml.inputValue(), new RegExp(`recorded_call: "?${callLogId}"?[\\s\\S]*recorded_turn: 1`))
    })

    await t.test('the call becomes a test that says what should have been heard, and fails', async () => {
      await page.goto(`${url}/console/calls/${callLogId}`)
      await click('More')
      await page.getByRole('menuitem', { name: 'Make a test of it' }).click()
      const yaml = page.getByLabel('Test', { exact: true })
      await yaml.waitFor()
      const made = await yaml.inputValue()
      t.match(made, /from-call[\s\S]*delivery cost[\s\S]*three euros/)
      await yaml.fill(
        made.replace(/^name: .*$/m, 'name: says what delivery costs').replaceAll('three euros', 'five euros'),
      )
      await click('Save')
      await page.getByRole('button', { name: 'says what delivery costs' }).waitFor()
      await click('Run its tests')
      await page
        .getByText(/five euros.*: the caller never heard it/)
        .first()
        .waitFor()
    })

    const save = async (prompt: string) => {
      await page.goto(`${url}/console/agents/${agent_id}`)
      await page.getByRole('textbox', { name: 'Prompt', exact: true }).fill(prompt)
      await click('Save')
      await told(page, /Saved\. Calls use it once it is published/)
      await page.getByRole('tab', { name: 'Versions' }).click()
      await page.getByLabel('Only when these tests pass').selectOption('from-call')
    }

    await t.test('a draft that fails it is not published, and one that passes is', async () => {
      await save(AGENT.system_prompt.replace('three euros', 'four euros'))
      await click('Publish')
      await page
        .getByText(/did not pass: says what delivery costs/)
        .first()
        .waitFor()
      const better = AGENT.system_prompt.replace('three euros', 'five euros')
      await save(better.replace('We are closed on Sundays.', ''))
      await click('Publish')
      await told(page, /Version 2 is live/)
      await link('Tests')
      await click('Run its tests')
      await page.getByRole('button', { name: /Passed.*Run 1/ }).waitFor()
    })

    await t.test('a fifth of the calls get it, and the guard gives them the old version again', async () => {
      await page.goto(`${url}/console/agents/${agent_id}?tab=versions`)
      await click('Start a rollout')
      await dialog.getByText('Version 1 gets the other 80%.').waitFor()
      await page.getByLabel('Compare and stop by').selectOption('success')
      await dialog.getByRole('button', { name: 'Start', exact: true }).click()
      await told(page, /The rollout runs/)
      await writeWorseCalls(store, agent_id)
      await page.getByText(/Version 2 was worse \(Success\), .*: all calls get version 1 until/).waitFor()
      const message = 'What about Sundays?'
      const answer = await ada.ask<{ response: string }>('POST', '/chats/interaction', { agent_id, message })
      t.match(answer.response, /closed on Sundays/)
    })

    t.same(faults, [])
    t.same(strays, [])
  },
)
