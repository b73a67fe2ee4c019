import t from 'tap'
import { axeFaults, startBrowsers, withoutChromium } from '../../support/browser/console.ts'
import { userOf } from '../../support/browser/console-user.ts'
import { startInstance } from '../../support/instance/instance.ts'

const LIMIT_MS = 45_000

t.test('the form of an agent', { skip: withoutChromium }, async (t) => {
  const { url } = await startInstance(t)
  const open = await startBrowsers(t)
  const ada = userOf(url, 'ada@example.com')
  await ada.enter('Ada Lovelace')
  const { agent_id } = await ada.ask('POST', '/agents', { agent_name: 'Ava', system_prompt: 'You are Ava.' })
  const path = `/agents/${agent_id}`
  const { context, page, faults, strays } = await open(url)
  page.setDefaultTimeout(LIMIT_MS)
  await context.addCookies(ada.cookies())
  const save = async () => {
    const isSave = page.waitForResponse((answer) => answer.request().method() === 'PUT' && answer.url().endsWith(path))
    await page.getByRole('button', { name: 'Save', exact: true }).click()
    return (await isSave).json()
  }

  await t.test('languages of the recogniser are chosen by name, and any other by its tag', async (t) => {
    await page.goto(`${url}/console${path}?tab=settings`)
    const language = page.getByLabel('Language', { exact: true })
    await language.selectOption({ label: 'German' })
    t.match(await save(), { language: 'de' })
    await language.selectOption({ label: 'Several: it follows the caller' })
    t.match(await save(), { language: 'multi' })
    await language.selectOption({ label: 'Another, by its tag' })
    await language.fill('en-AU')
    t.match(await save(), { language: 'en-AU' })
    await page.reload()
    await page.getByRole('option', { name: 'Australian English' }).waitFor({ state: 'attached' })
    t.same(await axeFaults(page), [])
  })

  t.same(faults, [], 'no page threw')
  t.same(strays, [], 'no page asked another host')
})
