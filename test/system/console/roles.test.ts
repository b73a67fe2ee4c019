import type { Page } from 'playwright-core'
import t, { type Test } from 'tap'
import { startBrowsers, told, withoutChromium } from '../../support/browser/console.ts'
import { userOf } from '../../support/browser/console-user.ts'
import { SILENT, startInstance } from '../../support/instance/instance.ts'

const PROMPT = 'You answer the phone.'

t.test('each role sees what it may do and no control it may not use', { skip: withoutChromium }, async (t) => {
  const { url } = await startInstance(t, SILENT)
  const open = await startBrowsers(t)
  const admin = userOf(url, 'ada@example.com')
  const { current_workspace_id: workspaceId } = await admin.enter('Ada Lovelace')
  const { agent_id } = await admin.ask('POST', '/agents', { agent_name: 'Front desk', system_prompt: PROMPT })
  await admin.ask('POST', '/phone-numbers', { phone_number: '+14155550100', provider: 'sim', agent_id })
  await admin.ask('POST', '/webhooks', { url: 'https://crm.example.com/in', types: ['call.ended'] })
  await admin.ask('POST', '/api/v/campaign/', { name: 'Spring', agent_id, paused: true })

  /** A page of somebody who was given the role in Ada's workspace. */
  async function enter(name: string, role: string) {
    const email = `${name.toLowerCase()}@example.com`
    const user = userOf(url, email)
    await user.enter(name)
    await admin.ask('POST', `/workspaces/${workspaceId}/invite`, { email, role })
    await user.ask('POST', `/workspaces/${workspaceId}/switch`)
    const visit = await open(url)
    await visit.context.addCookies(user.cookies())
    return visit
  }
  const go = (page: Page, path: string) => page.goto(`${url}/console${path}`)
  const absent = async (t: Test, page: Page, role: 'button' | 'tab' | 'link' | 'menuitem', names: string[]) => {
    for (const name of names)
      t.equal(await page.getByRole(role, { name, exact: true }).count(), 0, `no ${role} ${name}`)
  }

  await t.test('a Member reads, and changes nothing', async (t) => {
    const { page, faults } = await enter('Grace', 'member')
    await go(page, '/agents')
    await page.getByRole('link', { name: 'Front desk' }).waitFor()
    await absent(t, page, 'button', ['New agent'])
    await absent(t, page, 'link', ['Operator', 'Developers'])
    await page.getByRole('link', { name: 'Front desk' }).click()
    await page.getByLabel('First message').waitFor()
    t.equal(await page.getByLabel('First message').isDisabled(), true)
    await absent(t, page, 'button', ['Save'])
    await page.getByRole('tab', { name: 'Settings' }).click()
    await page.getByRole('heading', { name: 'Speaks' }).waitFor()
    await absent(t, page, 'button', ['Hear it'])
    await go(page, '/numbers')
    t.equal(await page.getByLabel('Agent of +14155550100').isDisabled(), true)
    await absent(t, page, 'button', ['Register a number', 'Buy a number', 'Remove +14155550100'])
    await go(page, '/campaigns')
    await page.getByRole('link', { name: 'Spring' }).click()
    await page.getByRole('heading', { name: 'People' }).waitFor()
    await absent(t, page, 'button', ['Start', 'Settings', 'Test call', 'Upload people', 'More'])
    await go(page, '/developers')
    await page.getByText('For Developers of this workspace').waitFor()
    await go(page, '/workspace')
    await page.getByRole('tab', { name: 'Members' }).waitFor()
    await absent(t, page, 'tab', ['Audit log', 'Retention'])
    await absent(t, page, 'button', ['Invite'])
    t.same(faults, [])
  })

  await t.test('a Developer makes and changes, but rules over nobody and deletes no agent', async (t) => {
    const { page, faults } = await enter('Edsger', 'developer')
    await go(page, `/agents/${agent_id}`)
    await page.getByLabel('First message').fill('Good day!')
    await page.getByRole('button', { name: 'Save' }).click()
    await told(page, /Saved\./)
    await page.getByRole('button', { name: 'More', exact: true }).click()
    await page.getByRole('menuitem', { name: 'Duplicate' }).waitFor()
    await absent(t, page, 'menuitem', ['Delete'])
    await go(page, '/numbers')
    await page.getByRole('button', { name: 'Register a number' }).waitFor()
    await go(page, '/campaigns')
    await page.getByRole('link', { name: 'Spring' }).click()
    await page.getByRole('button', { name: 'Start' }).waitFor()
    await absent(t, page, 'button', ['More'])
    await go(page, '/developers')
    await page.getByRole('link', { name: 'https://crm.example.com/in' }).click()
    await page.getByRole('heading', { name: 'Deliveries' }).waitFor()
    await absent(t, page, 'button', ['Change', 'More', 'Send a test'])
    await go(page, '/developers')
    await page.getByRole('tab', { name: 'Events' }).waitFor()
    await absent(t, page, 'tab', ['API keys'])
    await absent(t, page, 'button', ['New webhook'])
    await go(page, '/workspace')
    await page.getByRole('tab', { name: 'Members' }).waitFor()
    await absent(t, page, 'tab', ['Audit log', 'Retention'])
    await absent(t, page, 'button', ['Invite'])
    await absent(t, page, 'link', ['Operator'])
    t.same(faults, [])
  })
})
