import t from 'tap'
import { startBrowsers, withoutChromium } from '../../support/browser/console.ts'
import { userOf } from '../../support/browser/console-user.ts'
import { SILENT, startInstance } from '../../support/instance/instance.ts'

t.test('an operator begins maintenance, and every page says so until it ends', { skip: withoutChromium }, async (t) => {
  const { url } = await startInstance(t, SILENT)
  const open = await startBrowsers(t)
  const admin = userOf(url, 'ada@example.com')
  await admin.enter('Ada Lovelace')
  const { context, page, faults, strays } = await open(url)
  await context.addCookies(admin.cookies())
  await page.goto(`${url}/console/operator?tab=settings`)
  await page.getByLabel('Sentence').fill('The database is being moved')
  await page.getByRole('button', { name: 'Begin maintenance' }).click()
  const notice = page.getByRole('status').filter({ hasText: /Maintenance since .*: no new call is taken/ })
  await notice.filter({ hasText: 'The database is being moved' }).waitFor()
  await page.goto(`${url}/console/agents`)
  await notice.waitFor()
  await page.goto(`${url}/console/operator?tab=settings`)
  await page.getByRole('button', { name: 'End maintenance' }).click()
  await notice.waitFor({ state: 'detached' })
  await page.goto(`${url}/console/operator?tab=audit`)
  await page.getByText('Ended maintenance').waitFor()
  t.same(faults, [], 'nothing broke')
  t.same(strays, [], 'no request left the instance')
})
