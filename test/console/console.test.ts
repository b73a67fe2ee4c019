import type { Page } from 'playwright-core'
import t from 'tap'
import { axeFaults, startBrowsers, withoutChromium } from '../support/console.ts'
import { type Answer, userOf } from '../support/console-user.ts'
import { startInstance } from '../support/instance.ts'

const MARKUP = '<img src=x onerror="document.title=1">'
const SCREENS = [
  ['/', 'Latest calls'],
  ['/agents', 'Agents'],
  ['/calls', 'Calls'],
  ['/live', 'Live'],
  ['/reports', 'Reports'],
  ['/campaigns', 'Campaigns'],
  ['/batches', 'Batches'],
  ['/numbers', 'Numbers and trunks'],
  ['/numbers?tab=trunks', 'Numbers and trunks'],
  ['/knowledge', 'Knowledge'],
  ['/providers', 'Providers'],
  ['/workspace', 'workspace'],
  ['/developers', 'Developers'],
  ['/developers?tab=keys', 'Developers'],
  ['/developers?tab=requests', 'Developers'],
  ['/developers?tab=events', 'Developers'],
  ['/developers?tab=mcp', 'Developers'],
  ['/account', 'Ada Lovelace'],
  ['/workspace?tab=audit', 'workspace'],
  ['/operator', 'Operator'],
] as const

const AGENT_TABS = ['settings', 'tools', 'knowledge', 'web'].map((tab) => `/agents/$agent?tab=${tab}`)

/** Words that English has in nearly every sentence, and German in none. */
const ENGLISH =
  /(?<![\w-])(the|and|your|with|not|yet|are|is|of|for|every|nobody|nothing|which|who|have|has|from|this|that|it|to|no|or|by|be|when|new)(?![\w-])/i
const isEnglish = (text: string): boolean => text.includes(' ') && ENGLISH.test(text)

/** What a page says, seen or read aloud, but for what it marks as English, code, and what people wrote. */
function saidOn(page: Page): Promise<string[]> {
  return page.evaluate(`(() => {
    const said = []
    const skip = '[lang=en], noscript, datalist, code, pre, textarea, script, style'
    const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT)
    while (walker.nextNode()) {
      const { parentElement, data } = walker.currentNode
      if (parentElement.closest(skip) === null && data.trim() !== '') said.push(data.trim())
    }
    for (const name of ['aria-label', 'placeholder', 'title']) {
      for (const element of document.querySelectorAll('[' + name + ']')) {
        if (element.closest(skip) === null) said.push(element.getAttribute(name))
      }
    }
    return said
  })()`)
}

t.test('the console at work', { skip: withoutChromium }, async (t) => {
  const { url } = await startInstance(t)
  const open = await startBrowsers(t)
  const admin = userOf(url, 'ada@example.com')
  await admin.enter('Ada Lovelace')
  const { context, page, faults, strays } = await open(url)
  await context.addCookies(admin.cookies())

  await t.test('an agent is made, changed, given a tool and deleted; markup stays text', async (t) => {
    await page.goto(`${url}/console/agents`)
    await page.getByRole('button', { name: 'New agent' }).first().click()
    await page.getByLabel('Name', { exact: true }).fill(MARKUP)
    await page.getByLabel('Prompt', { exact: true }).fill('You answer the phone. <script>document.title=1</script>')
    await page.getByRole('button', { name: 'Make agent' }).click()
    await page.getByRole('heading', { name: MARKUP }).waitFor()

    await page.getByLabel('First message').fill('Good day!')
    await page.getByRole('tab', { name: 'Tools' }).click()
    await page.getByRole('button', { name: 'Add tool' }).click()
    await page.getByLabel('What it does').selectOption('hang_up')
    await page.getByLabel('Name', { exact: true }).fill('end call')
    await page.getByRole('button', { name: 'Add', exact: true }).click()
    await page.getByText('begins with a letter').waitFor()
    await page.getByLabel('Name', { exact: true }).fill('end_call')
    await page.getByLabel('Description').fill('When the caller says goodbye.')
    await page.getByRole('button', { name: 'Add', exact: true }).click()
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByText('Saved.').waitFor()
    const [agent] = await admin.ask<Answer[]>('GET', '/agents')
    t.match(agent, { agent_name: MARKUP, first_message: 'Good day!', tools: [{ type: 'hang_up', name: 'end_call' }] })

    await page.getByRole('button', { name: 'More', exact: true }).click()
    await page.getByRole('menuitem', { name: 'Delete' }).click()
    await page.getByRole('button', { name: 'Delete agent' }).click()
    await page.getByText('No agents yet').waitFor()
    t.not(await page.title(), '1', 'no markup ran')
  })

  const agent = await admin.ask('POST', '/agents', { agent_name: 'Front desk', system_prompt: 'You answer the phone.' })

  await t.test('a number is registered and given an agent', async (t) => {
    await page.goto(`${url}/console/numbers`)
    await page.getByRole('button', { name: 'Register a number' }).click()
    await page.getByLabel('Carrier').selectOption('sim')
    await page.getByLabel('Number', { exact: true }).fill('12')
    await page.getByRole('button', { name: 'Register', exact: true }).click()
    await page.getByText('Invalid phone number format').waitFor()
    await page.getByLabel('Number', { exact: true }).fill('+14155550100')
    await page.getByRole('button', { name: 'Register', exact: true }).click()
    await page.getByLabel('Agent of +14155550100').selectOption(agent.agent_id)
    await page.getByText('Saved').waitFor()
    t.match(await admin.ask('GET', '/phone-numbers'), [{ phone_number: '+14155550100', agent_id: agent.agent_id }])
  })

  await t.test('every screen is accessible, light and dark', async (t) => {
    for (const [path, heading] of SCREENS) {
      await page.goto(`${url}/console${path}`)
      await page.getByRole('heading', { name: heading }).first().waitFor()
      for (const colorScheme of ['light', 'dark'] as const) {
        await page.emulateMedia({ colorScheme })
        t.same(await axeFaults(page), [], `${path}, ${colorScheme}`)
      }
    }
    await page.emulateMedia({ colorScheme: 'light' })
  })

  await t.test('whoever reads German finds German on every screen, and may choose', async (t) => {
    const visit = await open(url, { locale: 'de-AT' })
    await visit.context.addCookies(admin.cookies())
    const { page } = visit
    for (const path of [...SCREENS.map(([path]) => path), `/agents/${agent.agent_id}`, ...AGENT_TABS]) {
      await page.goto(`${url}/console${path.replace('$agent', agent.agent_id)}`)
      await page.getByRole('heading', { level: 1 }).waitFor()
      await page.getByRole('status').filter({ hasText: 'Lädt' }).first().waitFor({ state: 'detached' })
      t.same((await saidOn(page)).filter(isEnglish), [], path)
    }
    t.same(await axeFaults(page), [])
    await page.getByRole('button', { name: 'Ada Lovelace Admin' }).click()
    await page.getByRole('menuitem', { name: 'English' }).click()
    await page.getByRole('link', { name: 'Campaigns' }).waitFor()
    await page.reload()
    await page.getByRole('link', { name: 'Campaigns' }).waitFor()
    t.same(visit.faults, [])
  })

  t.same(faults, [], 'nothing broke')
  t.same(strays, [], 'no request left the instance')
})
