import t from 'tap'
import { DICTIONARIES, LANGUAGES } from '../../../web/console/src/language/dictionaries.ts'
import { overflowPx, startBrowsers, type Visit, withoutChromium } from '../../support/browser/console.ts'
import { userOf } from '../../support/browser/console-user.ts'
import { startInstance } from '../../support/instance/instance.ts'

const WIDTHS = [390, 1280]
/** A sentence that no two languages share. */
const MARK = 'Nothing was saved: see the marked fields.'

t.test('the console is drawn in each language, whose file alone is loaded', { skip: withoutChromium }, async (t) => {
  const { url } = await startInstance(t)
  const open = await startBrowsers(t)
  const ada = userOf(url, 'ada@example.com')
  await ada.enter('Ada Lovelace')
  const { agent_id } = await ada.ask('POST', '/agents', { agent_name: 'Ava', system_prompt: 'You are Ava.' })
  const enter = async (locale: string): Promise<Visit> => {
    const visit = await open(url, { locale })
    await visit.context.addCookies(ada.cookies())
    return visit
  }
  const dictionaries = await Promise.all(
    Object.entries(DICTIONARIES).map(async ([tag, load]) => ({ tag, ...(await load()) })),
  )

  for (const { tag, sentences } of dictionaries) {
    const { page, context, faults, strays } = await enter(tag)
    await page.goto(`${url}/console/agents/${agent_id}?tab=settings`)
    await page.getByRole('link', { name: sentences.Reports, exact: true }).waitFor()
    await page.getByRole('heading', { level: 1 }).waitFor()
    await page.getByRole('status').filter({ hasText: sentences.Loading }).first().waitFor({ state: 'detached' })
    t.equal(await page.locator('html').getAttribute('lang'), tag)
    for (const width of WIDTHS) {
      await page.setViewportSize({ width, height: 900 })
      t.ok((await overflowPx(page)) <= 0, `${tag} at ${width}: too wide`)
    }
    t.same([faults, strays], [[], []], tag)
    await context.close()
  }

  const { page } = await enter('en-GB')
  const scripts: string[] = []
  page.on('request', (request) => {
    if (request.url().endsWith('.js')) scripts.push(request.url())
  })
  await page.goto(`${url}/console/`)
  const loaded = async () => {
    const texts = await Promise.all(scripts.splice(0).map(async (script) => (await fetch(script)).text()))
    const text = texts.join('\n')
    return dictionaries.flatMap(({ tag, sentences }) => (text.includes(sentences[MARK]) ? [tag] : []))
  }
  await page.getByRole('button', { name: 'Ada Lovelace Admin' }).click()
  t.same(await loaded(), [])
  await page.getByRole('menuitem', { name: 'Language' }).click()
  t.same(await page.getByRole('menu').last().getByRole('menuitem').allTextContents(), Object.values(LANGUAGES))
  await page.getByRole('menuitem', { name: 'Deutsch' }).click()
  await page.getByRole('link', { name: 'Berichte', exact: true }).waitFor()
  t.same(await loaded(), ['de'])
  t.match(await ada.ask('GET', '/auth/me'), { language: 'de' }, 'mails are in it, too')
})
