import t from 'tap'
import { axeFaults, startBrowsers, withoutChromium } from '../support/console.ts'
import { type Answer, PASSWORD, userOf } from '../support/console-user.ts'
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
  ['/developers?tab=events', 'Developers'],
  ['/account', 'Ada Lovelace'],
  ['/workspace?tab=audit', 'workspace'],
  ['/operator', 'Operator'],
] as const

t.test('the console at work', { skip: withoutChromium }, async (t) => {
  // Beyond the ports that connections get, so that it is free again after a restart.
  let instance = await startInstance(t, { PORT: String(20_000 + (process.pid % 12_000)) })
  const { url } = instance
  const open = await startBrowsers(t)
  const admin = userOf(url, 'ada@example.com')
  const { current_workspace_id: workspaceId } = await admin.enter('Ada Lovelace')
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

  await t.test('a Member sees no action of an Admin, and is given none', async (t) => {
    const member = userOf(url, 'grace@example.com')
    await member.enter('Grace Hopper')
    await admin.ask('POST', `/workspaces/${workspaceId}/invite`, { email: 'grace@example.com', role: 'member' })
    const [invitation] = await member.ask<Answer[]>('GET', '/auth/invitations')
    await member.ask('POST', `/auth/invitations/${invitation?.invitation_id}/accept`)
    await member.ask('POST', `/workspaces/${workspaceId}/switch`)
    const visit = await open(url)
    await visit.context.addCookies(member.cookies())
    await visit.page.goto(`${url}/console/agents`)
    await visit.page.getByRole('link', { name: 'Front desk' }).waitFor()
    t.equal(await visit.page.getByRole('button', { name: 'New agent' }).count(), 0)
    t.equal(await visit.page.getByRole('link', { name: 'Operator' }).count(), 0)
    await visit.page.getByRole('link', { name: 'Front desk' }).click()
    await visit.page.getByLabel('First message').waitFor()
    t.equal(await visit.page.getByLabel('First message').isDisabled(), true)
    t.equal(await visit.page.getByRole('button', { name: 'Save' }).count(), 0)
    await visit.page.goto(`${url}/console/workspace`)
    await visit.page.getByRole('tab', { name: 'Members' }).waitFor()
    t.equal(await visit.page.getByRole('tab', { name: 'Audit log' }).count(), 0)
    t.equal(await visit.page.getByRole('link', { name: 'Developers' }).count(), 0)
    t.equal(await visit.page.getByRole('button', { name: 'Invite' }).count(), 0)
    t.same(visit.faults, [])
  })

  await t.test('a session that ends under an open form loses nothing', async (t) => {
    await page.goto(`${url}/console/agents/${agent.agent_id}`)
    await page.getByLabel('First message').fill('Typed before the session ended')
    await context.clearCookies()
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByRole('heading', { name: 'Sign in again' }).waitFor()
    await page.getByLabel('Password').fill(PASSWORD)
    await page.getByRole('button', { name: 'Sign in' }).click()
    await page.getByText('Saved.').waitFor()
    t.equal(await page.getByLabel('First message').inputValue(), 'Typed before the session ended')
  })

  await t.test('an instance that restarts under an open page is waited for', async (t) => {
    await page.goto(`${url}/console/agents/${agent.agent_id}`)
    await page.getByLabel('First message').fill('Typed before the restart')
    await instance.stop()
    await page.getByRole('button', { name: 'Save' }).click()
    const away = page.getByText('comes back by itself')
    await away.first().waitFor()
    instance = await startInstance(t, { PORT: new URL(url).port, PATCHBAY_DATA_DIR: instance.dataDir })
    await away.first().waitFor({ state: 'detached', timeout: 30_000 })
    t.equal(await page.getByLabel('First message').inputValue(), 'Typed before the restart')
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByText('Saved.').waitFor()
    await instance.stop()
  })

  t.same(faults, [], 'nothing broke')
  t.same(strays, [], 'no request left the instance')
})
