import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import type { Page } from 'playwright-core'
import t from 'tap'
import { axeFaults, startBrowsers, told, withoutChromium } from '../../support/browser/console.ts'
import { type Answer, userOf } from '../../support/browser/console-user.ts'
import { startInstance } from '../../support/instance/instance.ts'
import { sipSettings } from '../../support/instance/sip-instance.ts'
import { WirePhone } from '../../support/phone/wire-phone.ts'
import { startSipResponder } from '../../support/sip/sip-responder.ts'
import { structureOf } from '../../support/source/structure.ts'
import { waitUntil } from '../../support/world/wait-until.ts'

const MARKUP = '<img src=x onerror="document.title=1">'
const SCREENS = [
  ['/', 'Latest calls'],
  ['/agents', 'Agents'],
  ['/calls', 'Calls'],
  ['/chats', 'Chats'],
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

/** What each screen is made of. */
const STRUCTURES = join(import.meta.dirname, 'structures.json')
const TAKES_STRUCTURES = process.env.STRUCTURES === 'take'

const AGENT_TABS = ['settings', 'tools', 'knowledge', 'web', 'versions'].map((tab) => `/agents/$agent?tab=${tab}`)

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

interface Faces {
  document: { fonts: Iterable<{ family: string; status: string }> }
}
const hasInter = () =>
  [...(globalThis as unknown as Faces).document.fonts].some(
    ({ family, status }) => family.includes('Inter') && status === 'loaded',
  )

t.test('the console at work', { skip: withoutChromium }, async (t) => {
  const { sipPort, env } = await sipSettings()
  const { url } = await startInstance(t, env)
  const open = await startBrowsers(t)
  const admin = userOf(url, 'ada@example.com')
  await admin.enter('Ada Lovelace')
  const { context, page, faults, strays } = await open(url)
  await context.addCookies(admin.cookies())

  await t.test('the type face comes once the page has what it asked for, from this instance', async (t) => {
    const asked: string[] = []
    const listen = (request: { url(): string }) => asked.push(new URL(request.url()).pathname)
    page.on('request', listen)
    await page.goto(`${url}/console/calls`)
    await page.waitForFunction(hasInter, undefined, { polling: 50 })
    const at = (path: RegExp) => asked.findIndex((one) => path.test(one))
    t.ok(at(/^\/calls\/logs/) >= 0 && at(/^\/calls\/logs/) < at(/\.woff2$/), asked.join(' '))
    t.equal(asked.filter((one) => one.endsWith('.woff2')).length, 1, 'the letters of the page’s language alone')
    page.off('request', listen)
  })

  await t.test('an agent is made, changed, given a tool and deleted; markup stays text', async (t) => {
    await page.goto(`${url}/console/agents`)
    await page.getByRole('button', { name: 'New agent' }).first().click()
    await page.getByLabel('Name', { exact: true }).fill(MARKUP)
    await page.getByLabel('Prompt', { exact: true }).fill('You answer the phone. <script>document.title=1</script>')
    await page.getByRole('button', { name: 'Create agent' }).click()
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
    await told(page, /Saved\./)
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
    await told(page, /Saved/)
    t.match(await admin.ask('GET', '/phone-numbers'), [{ phone_number: '+14155550100', agent_id: agent.agent_id }])
  })

  let trunkPath = ''
  const far = await startSipResponder(t, (method) => (/REGISTER|INVITE/.test(method) ? 403 : 200))

  await t.test('a trunk is added, says what is wrong, and is looked at', async (t) => {
    await page.goto(`${url}/console/numbers?tab=trunks`)
    await page.getByRole('button', { name: 'Add a trunk' }).first().click()
    await page.getByLabel('Name', { exact: true }).fill(MARKUP)
    await page.getByLabel('Host', { exact: true }).fill(`127.0.0.1:${far.port}`)
    await page.getByLabel('User name', { exact: true }).fill('aurora')
    await page.getByLabel('Password', { exact: true }).fill('wrong')
    await page.getByRole('switch', { name: 'Register' }).click()
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByRole('link', { name: MARKUP }).click()
    await page.getByRole('heading', { name: MARKUP }).waitFor()
    await page.getByText('It refuses the user name or the password').waitFor()
    await page.getByRole('list', { name: 'Last answers' }).getByText('403 Forbidden').first().waitFor()
    await page.getByRole('button', { name: 'Check now' }).click()
    await page.getByText('1 check failed, at').waitFor()
    const findings = page.getByRole('listitem')
    await findings.filter({ hasText: /An answer fine\s*OPTIONS was answered with 200/ }).waitFor()
    await findings.filter({ hasText: 'User name and password failed' }).waitFor()
    trunkPath = new URL(page.url()).pathname
    t.same(await axeFaults(page), [])

    const number = '+14155550188'
    await admin.ask('POST', '/phone-numbers', { phone_number: number, provider: 'sip', trunk: MARKUP })
    await page.getByLabel('Call this number').fill('+14155550177')
    await page.getByRole('button', { name: 'Call', exact: true }).click()
    await page.getByText('The call showed a fault').waitFor()
    await findings.filter({ hasText: /403 .*; it knows us and refuses/ }).waitFor()
    await page.getByText('SIP messages').click()
    await page.getByText(/403 Forbidden \(INVITE\)/).waitFor()
    t.same(await axeFaults(page), [], 'with what a test call showed')
    await admin.ask('DELETE', `/phone-numbers/${number}`)
    const silent = { name: 'Silent', host: 'nowhere.invalid', allowed_addresses: ['192.0.2.1'] }
    await admin.ask('POST', '/trunks', silent)
    await page.goto(`${url}/console/`)
    await page.getByText('could not register: 403 Forbidden. It refuses').waitFor()
    await page.getByText('does not answer: Its host has no address. Nothing came back').waitFor()
    await page.goto(`${url}/console/numbers?tab=trunks`)
    await page.getByRole('row', { name: 'Silent' }).getByText('No answer').waitFor()
  })

  await t.test('a phone call shows its SIP messages in order, and markup in them is text', async (t) => {
    const number = '+14155550199'
    await admin.ask('POST', '/phone-numbers', { phone_number: number, provider: 'sip', agent_id: agent.agent_id })
    const phone = await WirePhone.start(t, sipPort, MARKUP.replaceAll('"', "'"))
    await phone.call(number)
    await phone.hangUp()
    const calls = async () => (await admin.ask('GET', '/calls/logs')).items
    await waitUntil(async () => (await calls()).some(({ status }) => status === 'completed'))
    const path = `/calls/${(await calls())[0]?.call_log_id}`
    const labels = async () =>
      (await admin.ask<{ messages: { label: string }[] }>('GET', `${path}/sip`)).messages.map(({ label }) => label)
    // They are written down within two seconds of its end; the page of a call that is over reads them once.
    await waitUntil(async () => (await labels()).some((label) => /^200 .*\(BYE\)/.test(label)))
    await page.goto(`${url}/console${path}`)
    await page.getByText('SIP messages').click()
    const messages = page.getByRole('list', { name: 'SIP messages' }).getByRole('listitem')
    await messages.filter({ hasText: /from the other side.*BYE/ }).waitFor()
    const label = /INVITE \(SDP\)|1[08]0 \w+|200 OK \(\w+|ACK|BYE/
    const said = (await messages.allTextContents()).map((text) => label.exec(text)?.[0])
    // Over UDP what is late comes again.
    t.same(
      [...new Set(said)].filter((label) => label !== '180 Ringing'),
      ['INVITE (SDP)', '100 Trying', '200 OK (INVITE', 'ACK', 'BYE', '200 OK (BYE'],
    )
    await messages.filter({ hasText: 'INVITE' }).first().locator('summary').click()
    await page.getByText("<img src=x onerror='document.title=1'>").first().waitFor()
    t.not(await page.title(), '1', 'no markup ran')
    t.same(await axeFaults(page), [])
  })

  await t.test('every screen is made of what it is known to be made of, and accessible, light and dark', async (t) => {
    const known = JSON.parse(await readFile(STRUCTURES, 'utf8')) as Record<string, string[]>
    const seen: Record<string, string[]> = {}
    for (const [path, heading] of SCREENS) {
      await page.goto(`${url}/console${path}`)
      await page.getByRole('heading', { name: heading }).first().waitFor()
      const look = async () => {
        const structure = structureOf(await page.locator('main').ariaSnapshot())
        // At any hour of the day.
        seen[path] = structure.map((one) => one.replace(/^heading .+(?=, Ada$)/, 'heading A greeting'))
        return isDeepStrictEqual(seen[path], known[path])
      }
      // What it reads comes by and by; what never comes is told below.
      await waitUntil(look, undefined, { timeoutMs: TAKES_STRUCTURES ? 3_000 : 90_000 }).catch(() => undefined)
      t.same(seen[path], known[path], `${path}; where it is meant: STRUCTURES=take node ${import.meta.filename}`)
      for (const colorScheme of ['light', 'dark'] as const) {
        await page.emulateMedia({ colorScheme })
        t.same(await axeFaults(page), [], `${path}, ${colorScheme}`)
      }
    }
    await page.emulateMedia({ colorScheme: 'light' })
    if (TAKES_STRUCTURES) await writeFile(STRUCTURES, `${JSON.stringify(seen, null, 2)}\n`)
  })

  await t.test('whoever reads German finds German on every screen, and may choose', async (t) => {
    const visit = await open(url, { locale: 'de-AT' })
    await visit.context.addCookies(admin.cookies())
    const { page } = visit
    const trunk = trunkPath.replace('/console', '')
    for (const path of [...SCREENS.map(([path]) => path), `/agents/${agent.agent_id}`, ...AGENT_TABS, trunk]) {
      await page.goto(`${url}/console${path.replace('$agent', agent.agent_id)}`)
      await page.getByRole('heading', { level: 1 }).waitFor()
      await page.getByRole('status').filter({ hasText: 'Lädt' }).first().waitFor({ state: 'detached' })
      t.same((await saidOn(page)).filter(isEnglish), [], path)
    }
    t.same(await axeFaults(page), [])
    await page.getByRole('button', { name: 'Ada Lovelace Admin' }).click()
    await page.getByRole('menuitem', { name: 'Sprache' }).click()
    await page.getByRole('menuitem', { name: 'English' }).click()
    await page.getByRole('link', { name: 'Campaigns' }).waitFor()
    await page.reload()
    await page.getByRole('link', { name: 'Campaigns' }).waitFor()
    t.same(visit.faults, [])
  })

  await t.test('trunks and numbers are changed and removed, and whom nobody calls is listed and let go', async (t) => {
    const remove = async (name: string) => {
      await page.getByRole('button', { name: `Remove ${name}` }).click()
      await page.getByRole('dialog').getByRole('button', { name: 'Remove' }).click()
      // Under a dialog the page has no roles: what is removed would seem gone.
      await page.getByRole('dialog').waitFor({ state: 'detached' })
      await page.getByRole('button', { name: `Remove ${name}` }).waitFor({ state: 'detached' })
    }
    await page.goto(`${url}/console/numbers?tab=trunks`)
    await page.getByRole('button', { name: 'Edit Silent' }).click()
    await page.getByLabel('Calls at once, at most').fill('7')
    await page.getByRole('button', { name: 'Save' }).click()
    await told(page, /The trunk Silent was saved/)
    await page.getByRole('link', { name: 'Silent' }).click()
    await page.getByText('at most 7').waitFor()
    await page.goto(`${url}/console/numbers?tab=trunks`)
    await remove('Silent')
    await page.getByRole('tab', { name: 'Phone numbers' }).click()
    await remove('+14155550100')
    t.match(await admin.ask('GET', '/phone-numbers'), [{ phone_number: '+14155550199' }])
    await page.goto(`${url}/console/workspace?tab=do-not-call`)
    await page.getByLabel('Number', { exact: true }).fill('+14155550177')
    await page.getByLabel('Reason').fill(MARKUP)
    await page.getByRole('button', { name: 'Add', exact: true }).click()
    await page.getByRole('list', { name: 'Do not call' }).getByText(MARKUP).waitFor()
    await page.getByRole('button', { name: 'Allow +14155550177' }).click()
    await page.getByText('Nobody is on it').waitFor()
  })

  t.same(faults, [], 'nothing broke')
  t.same(strays, [], 'no request left the instance')
})
