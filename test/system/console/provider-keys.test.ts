import t from 'tap'
import { axeFaults, startBrowsers, withoutChromium } from '../../support/browser/console.ts'
import { userOf } from '../../support/browser/console-user.ts'
import { SILENT, startInstance } from '../../support/instance/instance.ts'
import { TwilioDouble } from '../../support/providers/doubles/carriers/twilio.ts'

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
