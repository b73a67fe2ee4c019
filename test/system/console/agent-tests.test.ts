import t from 'tap'
import { axeFaults, startBrowsers, withoutChromium } from '../../support/browser/console.ts'
import { userOf } from '../../support/browser/console-user.ts'
import { startInstance } from '../../support/instance/instance.ts'
import { waitUntil } from '../../support/world/wait-until.ts'

const LIMIT_MS = 45_000
const YAML = `name: says what a table costs
caller:
  say: [What does a table cost?]
expect:
  - heard: 20 euros
`
const POLITE = 'The agent is polite.'
const JUDGED = `name: is polite
caller:
  say: [What does a table cost?]
judge:
  - ${POLITE}
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
    await page.getByRole('button', { name: 'New test' }).click()
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

    await t.test('a judged sentence is marked, and the page says how far its judge can be trusted', async (t) => {
      await ada.ask('POST', '/tests', { yaml: JUDGED })
      const { run_id } = await ada.ask<{ run_id: string }>('POST', '/tests/runs', { agent_id })
      const isDone = async () => (await ada.ask<{ status: string }>('GET', `/tests/runs/${run_id}`)).status === 'done'
      await waitUntil(isDone, () => 'the run of the judged test')
      await page.goto(`${url}/console/tests/runs/${run_id}`)
      const verdict = page.getByLabel(`Your verdict on “${POLITE}”`)
      await verdict.waitFor({ timeout: LIMIT_MS })
      await verdict.selectOption({ label: 'The sentence is true' })
      const isMarked = async () => (await ada.ask<unknown[]>('GET', '/tests/judge/agreement')).length === 1
      await waitUntil(isMarked, () => 'the mark')
      await page.getByRole('link', { name: 'Tests' }).first().click()
      const judges = page.getByRole('region', { name: 'How far judges can be trusted' })
      const row = judges.getByRole('row').filter({ hasText: 'offline/extractive' })
      await row.waitFor({ timeout: LIMIT_MS })
      // The model without a key judges nothing: one sentence is marked, and there is no answer to compare.
      t.same(await row.getByRole('cell').allTextContents(), ['offline/extractive', '1', '1', '0 of 0', '–', '1'])
      t.same(await axeFaults(page), [])
    })
    t.same(faults, [])
    t.same(strays, [])
  },
)
