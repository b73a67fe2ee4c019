import type { Page } from 'playwright-core'
import t from 'tap'
import { axeFaults, startBrowsers, withoutChromium } from '../../support/browser/console.ts'
import { userOf } from '../../support/browser/console-user.ts'
import { startInstance } from '../../support/instance/instance.ts'
import { waitUntil } from '../../support/world/wait-until.ts'

interface Calls {
  items: { call_log_id: string; status: string; to_number: string }[]
  total: number
}

/** Where the keyboard is. */
const focused = (page: Page) => page.evaluate<string>('document.activeElement?.closest("tr")?.textContent ?? ""')

t.test('a list is a place of work', { skip: withoutChromium }, async (t) => {
  const { url } = await startInstance(t)
  const open = await startBrowsers(t)
  const ada = userOf(url, 'ada@example.com')
  await ada.enter('Ada Lovelace')
  const desk = async (name: string, greeting: string, number: string) => {
    const agent = { agent_name: name, system_prompt: 'You answer the phone.', first_message: greeting }
    const { agent_id } = await ada.ask('POST', '/agents', agent)
    await ada.ask('POST', '/phone-numbers', { phone_number: number, provider: 'sim', agent_id })
    return { agent_id, number }
  }
  const hotel = await desk('Hotel', 'Welcome to the Aurora!', '+14155550100')
  const clinic = await desk('Clinic', 'This is the dental clinic.', '+14155550101')
  const place = (from: string, to: string) =>
    ada.ask('POST', '/calls/outbound_call', { agent_phone_number: from, phone_number_to_dial: to })
  for (const [from, to] of [
    [hotel.number, '+442071838750'],
    [hotel.number, '+442071838751'],
    [clinic.number, '+442071838752'],
  ] as const) {
    await place(from, to)
  }
  const calls = () => ada.ask<Calls>('GET', '/calls/logs')
  const isOver = ({ status }: Calls['items'][number]) => status === 'completed' || status === 'failed'
  await waitUntil(async () => (await calls()).items.filter(isOver).length === 3, undefined, { timeoutMs: 120_000 })

  const { context, page, faults, strays } = await open(url)
  await context.addCookies(ada.cookies())
  const rows = page.getByRole('table', { name: 'Calls' }).getByRole('row')
  const count = async (n: number) => {
    await waitUntil(async () => (await rows.count()) === n + 1)
  }
  const search = page.getByLabel('Search calls')
  const panel = page.getByRole('complementary', { name: 'Chosen of Calls' })

  await t.test('calls are found by part of a number and by what was said', async () => {
    await page.goto(`${url}/console/calls`)
    await count(3)
    await search.fill('(207) 183-8751')
    await count(1)
    await rows.filter({ hasText: '+442071838751' }).waitFor()
    await search.fill('dental clin')
    await count(1)
    await rows.filter({ hasText: 'Clinic' }).waitFor()
    t.notMatch(page.url(), 'dental', 'what callers say is in no address')
    await search.fill('nobody said that')
    await page.getByText('No call matches').waitFor()
    await page.getByRole('button', { name: 'Clear' }).click()
    await count(3)
  })

  await t.test('the keyboard moves, shows a call beside the list, opens it and comes back', async (t) => {
    await page.keyboard.press('j')
    t.match(await focused(page), '+442071838752')
    await page.keyboard.press('j')
    t.match(await focused(page), '+442071838751')
    await page.keyboard.press('Enter')
    await panel.getByText('Welcome to the Aurora!').waitFor()
    await panel.getByText('+442071838751', { exact: true }).waitFor()
    t.same(await axeFaults(page), [])
    await page.keyboard.press('ArrowUp')
    await panel.getByText('This is the dental clinic.').waitFor()
    await count(3)
    await page.keyboard.press('Escape')
    await panel.waitFor({ state: 'detached' })
    t.match(await focused(page), '+442071838752', 'the keyboard stays where it was')
    await page.keyboard.press('Enter')
    await panel.waitFor()
    await page.keyboard.press('Enter')
    await page.waitForURL(/\/calls\/[0-9a-f-]{36}$/)
    await page.goBack()
    await count(3)
  })

  await t.test('a filter is saved under a name, chosen and removed', async (t) => {
    await page.getByLabel('Agent').selectOption(clinic.agent_id)
    await count(1)
    await page.getByRole('button', { name: 'Saved filters' }).click()
    await page.getByRole('menuitem', { name: 'Save this filter' }).click()
    await page.getByLabel('Name', { exact: true }).fill('Dentist')
    await page.getByRole('button', { name: 'Save', exact: true }).click()
    await page.getByRole('button', { name: 'Dentist' }).waitFor()
    await page.getByRole('button', { name: 'Clear' }).click()
    await count(3)
    await page.reload()
    await page.getByRole('button', { name: 'Saved filters' }).click()
    await page.getByRole('menuitem', { name: 'Dentist' }).click()
    await count(1)
    t.match(page.url(), `agent_id=${clinic.agent_id}`)
    await page.getByRole('button', { name: 'Dentist' }).click()
    await page.getByRole('menuitem', { name: 'Remove Dentist' }).click()
    await page.getByRole('button', { name: 'Clear' }).click()
    await page.getByRole('button', { name: 'Saved filters' }).waitFor({ state: 'detached' })
  })

  await t.test('columns are chosen, and stay chosen; the head sorts', async (t) => {
    await page.getByRole('button', { name: 'Columns' }).click()
    await page.getByRole('menuitem', { name: 'Id' }).click()
    await page.getByRole('columnheader', { name: 'Id' }).waitFor()
    await page.reload()
    await page.getByRole('columnheader', { name: 'Id' }).waitFor()
    const length = page.getByRole('columnheader', { name: 'Length' })
    await length.getByRole('button').click()
    await waitUntil(async () => (await length.getAttribute('aria-sort')) === 'descending')
    await length.getByRole('button').click()
    await waitUntil(async () => (await length.getAttribute('aria-sort')) === 'ascending')
    const { items } = await ada.ask<Calls>('GET', '/calls/logs?sort=duration&order=asc')
    await waitUntil(async () => ((await rows.nth(1).textContent()) ?? '').includes(items[0]?.to_number ?? 'none'))
    t.same(await axeFaults(page), [])
  })

  await t.test('chats and numbers are searched, filtered and saved likewise', async (t) => {
    for (const message of ['Do you have rooms?', 'Where can I park my car?'])
      await ada.ask('POST', '/chats/interaction', { agent_id: hotel.agent_id, message })
    const listed = (name: string) => page.getByRole('table', { name }).getByRole('row')
    const shows = (name: string, n: number) =>
      waitUntil(
        async () => (await listed(name).count()) === n + 1,
        () => `${n} in ${name}`,
      )
    await page.goto(`${url}/console/chats`)
    await shows('Chats', 2)
    await page.getByLabel('Search chats').fill('park ca')
    await shows('Chats', 1)
    await page.getByLabel('Search chats').fill('nobody wrote that')
    await page.getByText('No chat matches').waitFor()
    await page.getByLabel('Search chats').fill('')
    await shows('Chats', 2)
    const when = page.getByRole('columnheader', { name: 'When' })
    await when.getByRole('button').click()
    await when.getByRole('button').click()
    await waitUntil(async () => (await when.getAttribute('aria-sort')) === 'ascending')
    const oldest = await ada.ask<{ items: { session_id: string }[] }>('GET', '/chats/logs?sort=updated_at&order=asc')
    const first = oldest.items[0]?.session_id ?? 'none'
    await waitUntil(async () => ((await listed('Chats').nth(1).textContent()) ?? '').includes(first))
    await page.goto(`${url}/console/numbers`)
    await shows('Phone numbers', 2)
    await page.getByLabel('Answered by', { exact: true }).selectOption({ label: 'Clinic' })
    await shows('Phone numbers', 1)
    await page.getByRole('button', { name: 'Saved filters' }).click()
    await page.getByRole('menuitem', { name: 'Save this filter' }).click()
    await page.getByLabel('Name', { exact: true }).fill('Dentist')
    await page.getByRole('button', { name: 'Save', exact: true }).click()
    await page.getByRole('button', { name: 'Dentist' }).waitFor()
    await page.goto(`${url}/console/numbers`)
    await shows('Phone numbers', 2)
    await page.getByRole('button', { name: 'Saved filters' }).click()
    await page.getByRole('menuitem', { name: 'Dentist' }).click()
    await shows('Phone numbers', 1)
    t.match(page.url(), `agent_id=${clinic.agent_id}`)
    t.same(await axeFaults(page), [])
  })

  await t.test('a report is compared with the time before, and is a file', async (t) => {
    await page.goto(`${url}/console/reports`)
    await page.getByText('none before').first().waitFor()
    const file = await page.getByRole('link', { name: 'CSV' }).getAttribute('href')
    const [head, ...lines] = decodeURIComponent(file?.split(',')[1] ?? '')
      .trim()
      .split('\r\n')
    t.match(head, /^start,total_calls,total_duration,/)
    const { totals } = await ada.ask<{ totals: { total_calls: number } }>('GET', '/reports/dashboard')
    const listed = lines.reduce((sum, line) => sum + Number(line.split(',')[1]), 0)
    t.equal(listed, totals.total_calls)
    t.same(await axeFaults(page), [])
  })

  t.same(faults, [], 'nothing broke')
  t.same(strays, [], 'no request left the instance')
})
