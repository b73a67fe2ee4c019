import t from 'tap'
import { axeFaults, startBrowsers, withoutChromium } from '../../support/browser/console.ts'
import { userOf } from '../../support/browser/console-user.ts'
import { SILENT, startInstance } from '../../support/instance/instance.ts'
import { TwilioDouble } from '../../support/providers/doubles/carriers/twilio.ts'
import { DOUBLE_KEY, startDoubles } from '../../support/providers/doubles/start.ts'

t.test(
  'an operator pastes a carrier’s key, tests it, and uses it without a restart',
  { skip: withoutChromium },
  async (t) => {
    const twilio = await TwilioDouble.start(t)
    const { url } = await startInstance(t, { ...SILENT, TWILIO_API_URL: twilio.url })
    const open = await startBrowsers(t)
    const admin = userOf(url, 'ada@example.com')
    await admin.enter('Ada Lovelace')
    const { context, page, faults, strays } = await open(url)
    await context.addCookies(admin.cookies())
    await page.goto(`${url}/console/operator?tab=providers`)
    const row = page.getByRole('row', { name: /Twilio/ })
    await row.getByText('Not set up').waitFor()
    t.same(await axeFaults(page), [])
    await row.getByRole('button').click()
    const dialog = page.getByRole('dialog', { name: 'Twilio' })
    await dialog.getByLabel('TWILIO_ACCOUNT_SID').fill(twilio.accountSid)
    await dialog.getByLabel('TWILIO_AUTH_TOKEN').fill('a-wrong-token')
    await dialog.getByRole('button', { name: 'Test' }).click()
    await dialog.getByText(/Twilio refused the key \(401\)/).waitFor()
    await dialog.getByLabel('TWILIO_AUTH_TOKEN').fill(twilio.authToken)
    await dialog.getByRole('button', { name: 'Test' }).click()
    await dialog.getByText(/It answers in/).waitFor()
    t.same(await axeFaults(page), [])
    await dialog.getByRole('button', { name: 'Save' }).click()
    await dialog.waitFor({ state: 'detached' })
    await row.getByText('Ready').waitFor()
    await row.getByText(`Ends in ${twilio.authToken.slice(-4)}`).waitFor()
    const bought = await admin.ask<{ provider: string }>('POST', '/phone-numbers/purchase', {
      ...{ country: 'US', provider: 'twilio' },
    })
    t.equal(bought.provider, 'twilio')

    await row.getByRole('button').click()
    t.equal(await dialog.getByLabel('TWILIO_AUTH_TOKEN').inputValue(), '', 'it is shown never again')
    await dialog.getByRole('button', { name: 'Remove key' }).click()
    await row.getByText('Not set up').waitFor()
    await page.goto(`${url}/console/operator?tab=audit`)
    await page.getByText('Set the key of a provider').waitFor()
    t.same(faults, [], 'nothing broke')
    t.same(strays, [], 'no request left the instance')
  },
)

t.test(
  'an admin pastes the key of the workspace’s own account, which serves its agents before the operator’s',
  { skip: withoutChromium },
  async (t) => {
    const { env, stop } = await startDoubles()
    t.teardown(stop)
    const { OPENAI_BASE_URL = '' } = env
    const { url } = await startInstance(t, { ...SILENT, OPENAI_BASE_URL, OPENAI_API_KEY: 'refused-refused-refused' })
    const open = await startBrowsers(t)
    const admin = userOf(url, 'ada@example.com')
    await admin.enter('Ada Lovelace')
    const { context, page, faults, strays } = await open(url)
    await context.addCookies(admin.cookies())
    await page.goto(`${url}/console/workspace?tab=keys`)
    const row = page.getByRole('row', { name: /OpenAI/ })
    await row.getByText('The operator’s').waitFor()
    t.same(await axeFaults(page), [])
    await row.getByRole('button').click()
    const dialog = page.getByRole('dialog', { name: 'OpenAI' })
    await dialog.getByLabel('OPENAI_API_KEY').fill('a-wrong-key')
    await dialog.getByRole('button', { name: 'Save' }).click()
    await dialog
      .getByText(/refused the key/)
      .first()
      .waitFor()
    await dialog.getByLabel('OPENAI_API_KEY').fill(DOUBLE_KEY)
    await dialog.getByRole('button', { name: 'Test' }).click()
    await dialog.getByText(/It answers in/).waitFor()
    await dialog.getByRole('button', { name: 'Save' }).click()
    await dialog.waitFor({ state: 'detached' })
    await row.getByText(`Yours; the key ends in ${DOUBLE_KEY.slice(-4)}`).waitFor()
    await page.goto(`${url}/console/providers`)
    await page.getByText('Whose account').waitFor()
    const { agent_id: agentId } = await admin.ask<{ agent_id: string }>('POST', '/agents', {
      ...{ agent_name: 'Desk', system_prompt: 'You answer.', LLM_provider: 'openai' },
    })
    t.ok(agentId, 'an agent can name a provider whose key of the operator is refused')
    await page.goto(`${url}/console/workspace?tab=keys`)
    await row.getByRole('button').click()
    await dialog.getByRole('button', { name: 'Remove key' }).click()
    await row.getByText('The operator’s').waitFor()
    t.same(faults, [], 'nothing broke')
    t.same(strays, [], 'no request left the instance')
  },
)
