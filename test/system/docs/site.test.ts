import t from 'tap'
import { axeFaults, startBrowsers, withoutChromium } from '../../support/browser/console.ts'
import { startInstance } from '../../support/instance/instance.ts'

const PAGES = ['/docs', '/docs/campaigns', '/docs/agents.versions', '/docs/console', '/docs/search?q=trunk']

t.test('the documentation in a browser', { skip: withoutChromium }, async (t) => {
  const { url } = await startInstance(t)
  const open = await startBrowsers(t)
  const { page, faults, strays } = await open(url)

  await t.test('is accessible on every width, light and dark', async (t) => {
    for (const path of PAGES) {
      await page.goto(`${url}${path}`)
      for (const width of [390, 1280]) {
        await page.setViewportSize({ width, height: 800 })
        const isWider = await page.evaluate<boolean>('document.documentElement.scrollWidth > innerWidth')
        t.equal(isWider, false, `${path} fits ${width} pixels`)
        for (const colorScheme of ['light', 'dark'] as const) {
          await page.emulateMedia({ colorScheme })
          t.same(await axeFaults(page), [], `${path}, ${width}, ${colorScheme}`)
        }
      }
    }
  })

  await t.test('finds a page by its words, and leads to the reference', async () => {
    await page.goto(`${url}/docs`)
    await page.getByRole('searchbox', { name: 'Search the documentation' }).fill('answering machine')
    await page.keyboard.press('Enter')
    await page.getByRole('main').getByRole('link').first().click()
    await page.getByRole('heading', { level: 1 }).waitFor()
    await page.getByRole('link', { name: 'API reference' }).click()
    await page.locator('.opblock').first().waitFor()
  })

  t.same(faults, [], 'nothing broke')
  t.same(strays, [], 'no request left the instance')
})
