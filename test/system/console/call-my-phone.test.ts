import t from 'tap'
import { axeFaults, startBrowsers, withoutChromium } from '../../support/browser/console.ts'
import { userOf } from '../../support/browser/console-user.ts'
import { startInstance } from '../../support/instance/instance.ts'
import { sipSettings } from '../../support/instance/sip-instance.ts'
import { startSipResponder } from '../../support/sip/sip-responder.ts'

t.test('until the first phone call, Home leads to a ringing phone', { skip: withoutChromium }, async (t) => {
  const { env } = await sipSettings()
  const { url } = await startInstance(t, env)
  const open = await startBrowsers(t)
  const ada = userOf(url, 'ada@example.com')
  await ada.enter('Ada Lovelace')
  const { agent_id } = await ada.ask('POST', '/agents', { agent_name: 'Desk', system_prompt: 'You answer the phone.' })
  const { context, page, faults, strays } = await open(url)
  await context.addCookies(ada.cookies())

  await page.goto(`${url}/console/`)
  await page.getByRole('heading', { name: 'Have an agent call your phone' }).waitFor()
  t.same(await axeFaults(page), [])
  await page.getByRole('link', { name: 'Add a trunk' }).click()
  const far = await startSipResponder(t, () => 486)
  const trunk = page.getByRole('dialog')
  await trunk.getByLabel('Name', { exact: true }).fill('Aurora')
  await trunk.getByLabel('Host', { exact: true }).fill(`127.0.0.1:${far.port}`)
  await trunk.getByLabel('User name', { exact: true }).fill('aurora')
  await trunk.getByLabel('Password', { exact: true }).fill('secret')
  await trunk.getByRole('switch', { name: 'Register' }).click()
  await trunk.getByRole('button', { name: 'Save' }).click()
  await page.getByRole('link', { name: 'Aurora' }).waitFor()
  const number = { phone_number: '+14155550100', provider: 'sip', trunk: 'Aurora' }
  await ada.ask('POST', '/phone-numbers', number)
  await page.goto(`${url}/console/`)
  await page.getByText('Choose the agent of your number').waitFor()
  await ada.ask('PATCH', `/phone-numbers/${encodeURIComponent(number.phone_number)}`, { agent_id })
  await page.reload()
  await page.getByRole('button', { name: 'Call my phone' }).click()
  const dialog = page.getByRole('dialog', { name: 'Call a number' })
  t.equal(await dialog.getByLabel('To', { exact: true }).inputValue(), '+14155550123', 'the number of the account')
  t.equal(await dialog.getByLabel('From').inputValue(), number.phone_number)
  await dialog.getByRole('button', { name: 'Call', exact: true }).click()
  await page.waitForURL(/\/calls\/[0-9a-f-]{36}$/)
  await page.getByText('+14155550123').first().waitFor()
  await page.goto(`${url}/console/`)
  await page.getByRole('heading', { name: 'Latest calls' }).waitFor()
  await page.getByRole('heading', { name: 'Have an agent call your phone' }).waitFor({ state: 'detached' })
  t.same(faults, [], 'nothing broke')
  t.same(strays, [], 'no request left the instance')
})
