import t from 'tap'
import { axeFaults, startBrowsers, withoutChromium } from '../../support/browser/console.ts'
import { userOf } from '../../support/browser/console-user.ts'
import { startInstance } from '../../support/instance/instance.ts'

const LIMIT_MS = 45_000
const YAML = `name: says what a table costs
caller:
  say: [What does a table cost?]
expect:
  - heard: 20 euros
`

t.test(
  'a test is written, runs, and fails once the agent says something else',
  { skip: withoutChromium },
  async (t) => {
    const { url } = await startInstance(t)
    const open = await startBrowsers(t)
    const ada = userOf(url, 'ada@example.com')
    await ada.enter('Ada Lovelace')
    const prompt = 'You are Ava of Harbour House. A table costs 20 euros.'
    const { agent_id } = await ada.ask('POST', '/agents', {
      ...{ agent_name: 'Ava', system_prompt: prompt, LLM_provider: 'offline', LLM_model: 'extractive' },
    })
    const { context, page, faults, strays } = await open(url)
    await context.addCookies(ada.cookies())
    const click = (name: string) => page.getByRole('button', { name, exact: true }).click()
    await page.goto(`${url}/console/tests`)
    await page.getByText('No tests yet').waitFor({ timeout: LIMIT_MS })
    await page.getByRole('button', { name: 'New test' }).first().click()
    await page.getByLabel('Test', { exact: true }).fill(YAML.replace('heard', 'herd'))
    await click('Save')
    await page.getByText(/did you mean `heard`\? \(line 5\)/).waitFor({ timeout: LIMIT_MS })
    await page.getByLabel('Test', { exact: true }).fill(YAML)
    await click('Save')
    await page.getByRole('button', { name: 'says what a table costs' }).waitFor({ timeout: LIMIT_MS })
    t.same(await axeFaults(page), [])
    await click('Run its tests')
    await page.getByRole('heading', { name: /Run of tests/ }).waitFor({ timeout: LIMIT_MS })
    await page.getByRole('button', { name: /Passed.*Run 1/ }).waitFor({ timeout: LIMIT_MS })
    await page.getByRole('button', { name: /Passed.*Run 1/ }).click()
    await page.getByText('A table costs 20 euros.').waitFor({ timeout: LIMIT_MS })
    t.same(await axeFaults(page), [])
    await ada.ask('PATCH', `/agents/${agent_id}`, { system_prompt: prompt.replace('20', '25') })
    await page.getByRole('link', { name: 'Tests' }).first().click()
    await click('Run its tests')
    await page.getByText('heard 20 euros: the caller never heard it').first().waitFor({ timeout: LIMIT_MS })
    await page.getByText('before: 1 of 1').waitFor({ timeout: LIMIT_MS })
    await page.getByRole('link', { name: 'Tests' }).first().click()
    await click('says what a table costs')
    await click('Delete')
    const question = page.getByRole('dialog', { name: 'Delete says what a table costs?' })
    await question.getByRole('button', { name: 'Cancel' }).click()
    await question.waitFor({ state: 'detached', timeout: LIMIT_MS })
    await page.getByLabel('Test', { exact: true }).waitFor({ timeout: LIMIT_MS })
    await click('Delete')
    await question.getByRole('button', { name: 'Delete' }).click()
    await page.getByText('No tests yet').waitFor({ timeout: LIMIT_MS })
    t.same(faults, [])
    t.same(strays, [])
  },
)
