import t from 'tap'
import { startBrowsers, told, withoutChromium } from '../support/console.ts'
import { userOf } from '../support/console-user.ts'
import { SILENT, startInstance } from '../support/instance.ts'
import { startMcpExample } from '../support/mcp-example.ts'

t.test(
  'an agent is given the tools of an MCP server, and shows what it lists',
  { skip: withoutChromium },
  async (t) => {
    const example = await startMcpExample(t)
    const { url } = await startInstance(t, { ...SILENT, PATCHBAY_TOOLS_ALLOW_NET: 'localhost' })
    const open = await startBrowsers(t)
    const ada = userOf(url, 'ada@example.com')
    await ada.enter('Ada Lovelace')
    const { agent_id } = await ada.ask('POST', '/agents', { agent_name: 'Front desk', system_prompt: 'You answer.' })
    const { context, page, faults, strays } = await open(url)
    await context.addCookies(ada.cookies())

    await page.goto(`${url}/console/agents/${agent_id}?tab=tools`)
    await page.getByRole('button', { name: 'Add tool' }).click()
    await page.getByLabel('What it does').selectOption('mcp')
    await page.getByLabel('Address').fill('mcp.example.com')
    await page.getByRole('button', { name: 'Add', exact: true }).click()
    await page.getByText('begins with https:// or http://').waitFor()
    await page.getByLabel('Address').fill(example.url)
    await page.getByLabel('Headers').fill('authorization')
    await page.getByRole('button', { name: 'Add', exact: true }).click()
    await page.getByText('each line is a name, a colon and a value').waitFor()
    await page.getByLabel('Headers').fill('authorization: Bearer secret')
    await page.getByLabel('Its tools the agent may use').fill('greet')
    await page.getByRole('button', { name: 'Add', exact: true }).click()
    await page.getByRole('button', { name: 'Save' }).click()
    await told(page, /Saved\./)
    await page.getByRole('heading', { name: 'What its MCP servers list' }).waitFor()
    const { tools } = await ada.ask<{ tools: object[] }>('GET', `/agents/${agent_id}`)
    t.match(tools, [{ type: 'mcp', url: example.url, allow: ['greet'] }])
    t.notMatch(JSON.stringify(tools), 'secret', 'the header is shown to nobody again')

    // It is listed behind the page's back: the page says so once it is read anew.
    const listed = page.getByRole('listitem').filter({ has: page.locator('code', { hasText: 'greet' }) })
    for (let tries = 0; (await listed.count()) === 0 && tries < 30; tries++) {
      await page.reload()
      await page.getByRole('heading', { name: 'What its MCP servers list' }).waitFor()
      await listed
        .first()
        .waitFor({ timeout: 2_000 })
        .catch(() => undefined)
    }
    t.ok((await listed.count()) > 0)
    t.same(faults, [], 'nothing broke')
    t.same(strays, [], 'no request left the instance')
  },
)
