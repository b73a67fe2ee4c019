import t from 'tap'
import { axeFaults, startBrowsers, withoutChromium } from '../../support/browser/console.ts'
import { userOf } from '../../support/browser/console-user.ts'
import { SILENT, startInstance } from '../../support/instance/instance.ts'

t.test(
  'an operator gives calls to a pool of workers, to another one, and back',
  { skip: withoutChromium },
  async (t) => {
    const { url } = await startInstance(t, SILENT)
    const open = await startBrowsers(t)
    const admin = userOf(url, 'ada@example.com')
    await admin.enter('Ada Lovelace')
    const { context, page, faults, strays } = await open(url)
    await context.addCookies(admin.cookies())
    await page.goto(`${url}/console/operator?tab=workers`)
    await page.getByText('One pool serves everybody').waitFor()

    const whose = page.getByLabel('Whose calls')
    await whose.selectOption('region')
    await page.getByLabel('Your numbers begin with').fill('49')
    await page.getByLabel('Pool', { exact: true }).fill('eu')
    await page.getByRole('button', { name: 'Give to the pool' }).click()
    await page.getByText('must be the beginning of a number, such as +49').waitFor()
    await page.getByLabel('Your numbers begin with').fill('+49')
    await page.getByRole('button', { name: 'Give to the pool' }).click()
    const rules = page.getByRole('region', { name: 'Which calls a pool serves' })
    await rules.getByRole('row', { name: /Region \+49 eu/ }).waitFor()
    await page.getByText('No worker of the pool eu is linked').waitFor()

    await rules.getByRole('button', { name: 'Change +49' }).click()
    await page.getByLabel('Pool', { exact: true }).fill('frankfurt')
    await page.getByRole('button', { name: 'Save' }).click()
    await rules.getByRole('row', { name: /Region \+49 frankfurt/ }).waitFor()

    await whose.selectOption('workspace')
    await page.getByLabel('Pool', { exact: true }).fill('sales')
    await page.getByRole('button', { name: 'Give to the pool' }).click()
    await rules.getByRole('row', { name: /Workspace .* sales/ }).waitFor()
    t.same(await axeFaults(page), [], 'the page can be used without seeing it')

    await rules.getByRole('button', { name: 'Remove +49' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Remove' }).click()
    await rules.getByText('frankfurt').waitFor({ state: 'detached' })
    await page.goto(`${url}/console/operator?tab=audit`)
    await page.getByText('Gave calls to a pool of workers').first().waitFor()
    await page.getByText('Took calls from a pool of workers').waitFor()
    t.same(faults, [], 'nothing broke')
    t.same(strays, [], 'no request left the instance')
  },
)
