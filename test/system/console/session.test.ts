import t from 'tap'
import { freePort } from '../../../scripts/demo/free-port.ts'
import { startBrowsers, told, withoutChromium } from '../../support/browser/console.ts'
import { PASSWORD, userOf } from '../../support/browser/console-user.ts'
import { SILENT, startInstance } from '../../support/instance/instance.ts'

t.test('what is typed outlives the session and the instance', { skip: withoutChromium }, async (t) => {
  // One that connections don't get, so that it is free again after a restart.
  let instance = await startInstance(t, { ...SILENT, PORT: String(await freePort()) })
  const { url } = instance
  const open = await startBrowsers(t)
  const admin = userOf(url, 'ada@example.com')
  await admin.enter('Ada Lovelace')
  const agent = await admin.ask('POST', '/agents', { agent_name: 'Front desk', system_prompt: 'You answer the phone.' })
  const { context, page, faults, strays } = await open(url)
  await context.addCookies(admin.cookies())

  await t.test('a session that ends under an open form loses nothing', async (t) => {
    await page.goto(`${url}/console/agents/${agent.agent_id}`)
    await page.getByLabel('First message').fill('Typed before the session ended')
    await context.clearCookies()
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByRole('heading', { name: 'Sign in again' }).waitFor()
    await page.getByLabel('Password').fill(PASSWORD)
    await page.getByRole('button', { name: 'Sign in' }).click()
    await told(page, /Saved\./)
    t.equal(await page.getByLabel('First message').inputValue(), 'Typed before the session ended')
  })

  await t.test('an instance that restarts under an open page is waited for', async (t) => {
    await page.goto(`${url}/console/agents/${agent.agent_id}`)
    await page.getByLabel('First message').fill('Typed before the restart')
    await instance.stop()
    await page.getByRole('button', { name: 'Save' }).click()
    const away = page.getByText('comes back by itself')
    await away.first().waitFor()
    instance = await startInstance(t, { ...SILENT, PORT: new URL(url).port, PATCHBAY_DATA_DIR: instance.dataDir })
    await away.first().waitFor({ state: 'detached', timeout: 90_000 })
    t.equal(await page.getByLabel('First message').inputValue(), 'Typed before the restart')
    await page.getByRole('button', { name: 'Save' }).click()
    await told(page, /Saved\./)
    await instance.stop()
  })

  t.same(faults, [], 'nothing broke')
  t.same(strays, [], 'no request left the instance')
})
