import type { Page } from 'playwright-core'
import t from 'tap'
import { axeFaults, startBrowsers, told, withoutChromium } from '../../support/browser/console.ts'
import { userOf } from '../../support/browser/console-user.ts'
import { startInstance } from '../../support/instance/instance.ts'
import { anyHour } from '../../support/world/any-hour.ts'
import { waitUntil } from '../../support/world/wait-until.ts'

const NUMBER = '+14155550100'
const PROMPT = 'You answer the phone.\nWe open at nine.'

const axeInBoth = async (page: Page) => {
  const faults: string[] = []
  for (const colorScheme of ['dark', 'light'] as const) {
    await page.emulateMedia({ colorScheme })
    faults.push(...(await axeFaults(page)))
  }
  return faults
}

t.test('an agent is published, compared, restored and rolled out', { skip: withoutChromium }, async (t) => {
  const { url } = await startInstance(t, { PATCHBAY_CALLING_RULES: await anyHour(t) })
  const open = await startBrowsers(t)
  const ada = userOf(url, 'ada@example.com')
  await ada.enter('Ada Lovelace')
  const { agent_id } = await ada.ask('POST', '/agents', { agent_name: 'Desk', system_prompt: PROMPT })
  const path = `/agents/${agent_id}`
  const agent = () => ada.ask<Record<string, unknown>>('GET', path)
  const { context, page, faults, strays } = await open(url)
  await context.addCookies(ada.cookies())
  const click = (name: string) => page.getByRole('button', { name, exact: true }).click()
  const tab = (name: string) => page.getByRole('tab', { name }).click()
  const fill = (label: string, value: string) => page.getByLabel(label, { exact: true }).fill(value)
  const dialog = page.getByRole('dialog')
  const prompt = page.getByRole('textbox', { name: 'Prompt', exact: true })
  const versions = page.getByRole('list', { name: 'Versions' }).getByRole('listitem')

  await t.test('a change waits for its publication, and both say what it is', async (t) => {
    await page.goto(`${url}/console${path}?tab=versions`)
    await versions.filter({ hasText: /Version 1\s*Live/ }).waitFor()
    await page.getByLabel('A change is live').selectOption('manual')
    await tab('Prompt')
    await prompt.fill(PROMPT.replace('nine', 'ten'))
    // What it answers at is no field of the form: it is no change that saving would lose.
    await ada.ask('POST', '/phone-numbers', { phone_number: NUMBER, provider: 'sim', agent_id })
    await click('Save')
    await told(page, /Saved\. Calls use it once it is published/)
    await page.getByText('Unpublished changes').waitFor()
    t.match(await agent(), { version: 1, publishing: 'manual', unpublished_changes: true, phone_numbers: [NUMBER] })

    await tab('Versions')
    await click('Show what differs')
    await dialog.locator('del', { hasText: 'We open at nine.' }).waitFor()
    await dialog.locator('ins', { hasText: 'We open at ten.' }).waitFor()
    t.same(await axeInBoth(page), [])
    await dialog.getByRole('button', { name: 'Close' }).click()
    await fill('Note', 'Later in winter')
    await click('Publish')
    await told(page, /Version 2 is live/)
    await versions.filter({ hasText: /Version 2\s*Live\s*Later in winter\s*Ada Lovelace/ }).waitFor()
    await page.getByText('The draft is as version 2').waitFor()
    t.match(await agent(), { version: 2, unpublished_changes: false })
    t.same(await axeInBoth(page), [])

    await click('Changes of version 2')
    await dialog.locator('del', { hasText: 'We open at nine.' }).waitFor()
    await dialog.getByLabel('Compared with').selectOption('draft')
    await dialog.getByText('Nothing differs.').waitFor()
    await dialog.getByRole('button', { name: 'Close' }).click()
    await dialog.waitFor({ state: 'detached' })
  })

  await t.test('two who edit it at once hear of each other, and neither loses a change', async (t) => {
    await tab('Prompt')
    await fill('First message', 'Good day!')
    await ada.ask('PATCH', path, { system_prompt: 'We open at eleven.' })
    await click('Save')
    await dialog.getByText(/ada@example.com changed: Prompt \(/).waitFor()
    t.same(await axeInBoth(page), [])
    await click('Reload and keep my changes')
    await waitUntil(async () => (await prompt.inputValue()) === 'We open at eleven.')
    await click('Save')
    await told(page, /Saved\./)
    t.match(await agent(), { system_prompt: 'We open at eleven.', first_message: 'Good day!' })

    await fill('First message', 'Hello!')
    await ada.ask('PATCH', path, { first_message: 'Good evening!' })
    await click('Save')
    await dialog.getByText('You changed, too: First message.').waitFor()
    await click('Reload and drop my changes')
    await dialog.waitFor({ state: 'detached' })
    t.equal(await page.getByLabel('First message').inputValue(), 'Good evening!')
    t.equal(await page.getByText('Not saved').count(), 0)
  })

  await t.test('a version is restored, and replaces an unpublished draft only when that is said', async (t) => {
    await tab('Versions')
    await click('Restore version 1')
    await dialog.getByRole('button', { name: 'Restore', exact: true }).click()
    await dialog.getByText('The draft has changes that are not published').waitFor()
    t.match(await agent(), { first_message: 'Good evening!' })
    await click('Replace the draft')
    await told(page, /Version 1 was restored/)
    t.match(await agent(), { version: 2, unpublished_changes: true, system_prompt: PROMPT, first_message: '' })
  })

  await t.test('a rollout is set, shows its figures, stops and ends', async (t) => {
    await page.getByText('All calls get the live version.').waitFor()
    await click('Start a rollout')
    await dialog.getByText('Version 1 gets the other 80%.').waitFor()
    await fill('Share of the later version, %', '100')
    await page.getByLabel('Compare and stop by').selectOption('faults')
    await fill('Planned calls of both', '10')
    t.same(await axeInBoth(page), [])
    await dialog.getByRole('button', { name: 'Start', exact: true }).click()
    await dialog.locator('input:invalid').waitFor()
    await fill('Planned calls of both', '200')
    await dialog.getByRole('button', { name: 'Start', exact: true }).click()
    await told(page, /The rollout runs/)
    t.match(await ada.ask('GET', `${path}/rollout`), {
      split: [
        { version: 1, weight: 0 },
        { version: 2, weight: 1 },
      ],
      sticky: 'contact',
      guard: { figure: 'faults', min_calls: 50, planned_calls: 200 },
    })
    for (const phone_number_to_dial of ['+442071838750', '+442071838751']) {
      const { call_log_id } = await ada.ask<{ call_log_id: string }>('POST', '/calls/outbound_call', {
        agent_phone_number: NUMBER,
        phone_number_to_dial,
      })
      const call = () => ada.ask<{ agent_version: number; ended_at: string | null }>('GET', `/calls/${call_log_id}`)
      await waitUntil(async () => (await call()).agent_version === 2)
      await ada.ask('POST', `/calls/${call_log_id}/hangup`)
      await waitUntil(async () => (await call()).ended_at !== null)
    }
    const figures = page.getByRole('region', { name: 'Figures of each version' })
    await figures.getByRole('row', { name: 'Calls 0 2', exact: true }).waitFor()
    await figures.getByRole('row', { name: /Calls with a fault Guarded – 0% 0% to \d+(\.\d)?%/ }).waitFor()
    t.same(await axeInBoth(page), [])

    await click('Change')
    await dialog.getByRole('button', { name: 'Add a rule' }).click()
    await dialog.getByRole('button', { name: 'Save' }).click()
    await dialog.locator('textarea:invalid').waitFor()
    const rule = (n: number) => dialog.getByRole('group', { name: `Rule ${n}` })
    await rule(1).getByLabel('Values').fill('DE\nAT')
    await dialog.getByRole('button', { name: 'Add a rule' }).click()
    await rule(2).getByLabel('Where').selectOption({ label: 'Variable' })
    await rule(2).getByLabel('Name of the variable').fill('tier')
    await rule(2).getByLabel('Comparison').selectOption({ label: 'is not' })
    await rule(2).getByLabel('Values').fill('gold')
    await rule(2).getByLabel('Gets version').selectOption({ label: 'Version 1' })
    await dialog.getByRole('button', { name: 'Move Rule 2 up' }).click()
    t.same(await axeInBoth(page), [])
    await dialog.getByRole('button', { name: 'Save' }).click()
    await page.getByText('variable:tier is_not gold').waitFor()
    t.match((await ada.ask<{ rules: unknown }>('GET', `${path}/rollout`)).rules, [
      { match: { attribute: 'variable:tier', operator: 'is_not', values: ['gold'] }, version: 1 },
      { match: { attribute: 'country', operator: 'is', values: ['DE', 'AT'] }, version: 2 },
    ])
    await click('Change')
    await dialog.getByRole('button', { name: 'Remove Rule 1' }).click()
    await dialog.getByRole('button', { name: 'Save' }).click()
    await page.getByText('variable:tier is_not gold').waitFor({ state: 'detached' })
    await page.getByText('country is DE, AT').waitFor()

    const standing = await ada.ask<object>('GET', `${path}/rollout`)
    const stopped = { at: new Date().toISOString(), version: 2, serves: 1, z: 3.21, boundary: 2.9 }
    await page.route(`${url}${path}/rollout`, (route) =>
      route.request().method() === 'GET'
        ? route.fulfill({ json: { ...standing, status: 'stopped', stopped } })
        : route.fallback(),
    )
    await page.getByText(/Version 2 was worse \(Calls with a fault\), .*: all calls get version 1 until/).waitFor()
    await page.getByText('The difference was 3.21, the limit 2.90.').waitFor()
    t.same(await axeInBoth(page), [])
    await page.unroute(`${url}${path}/rollout`)

    await click('End rollout')
    await dialog.getByText('get version 2, which is live').waitFor()
    await dialog.getByRole('button', { name: 'End rollout' }).click()
    await told(page, /The rollout has ended/)
    await page.getByText('All calls get the live version.').waitFor()
    t.match(await ada.ask('GET', `${path}/rollout`), { code: 'rollout_not_found' })
  })

  t.same(faults, [])
  t.same(strays, [])
})
