import type { Response } from 'playwright-core'
import t from 'tap'
import { axeFaults, startBrowsers, told, withoutChromium } from '../../support/browser/console.ts'
import { PASSWORD, userOf } from '../../support/browser/console-user.ts'
import { startInstance } from '../../support/instance/instance.ts'
import { startMcpExample } from '../../support/providers/mcp-example.ts'
import { anyHour } from '../../support/world/any-hour.ts'
import { startReceiver } from '../../support/world/webhook-receiver.ts'

const MARKUP = "<img src=x onerror='document.title=1'>"
const CSV = `Mobile,first_name,last_name,Notes
+442071838750,${MARKUP},Guest,a
+442071838751,Grace,Hopper,b
12,No,Number,c
+442071838751,Grace,Twice,d
`
const LIMIT_MS = 90_000
/** One pixel. */
const PICTURE = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
)

t.test('the nouns of a workspace are made, changed, tried and deleted', { skip: withoutChromium }, async (t) => {
  const receiver = await startReceiver(t, (_, response) => void response.end(MARKUP))
  const env = { PATCHBAY_TOOLS_ALLOW_NET: '127.0.0.1,localhost', PATCHBAY_CALLING_RULES: await anyHour(t) }
  const { url } = await startInstance(t, env)
  const open = await startBrowsers(t)
  const ada = userOf(url, 'ada@example.com')
  await ada.enter('Ada Lovelace')
  const { agent_id } = await ada.ask('POST', '/agents', {
    agent_name: MARKUP,
    system_prompt: 'You answer the phone of a hotel. Breakfast is served from seven to ten.',
    first_message: 'Good day!',
    tools: [{ type: 'hang_up', name: 'end_call', description: 'When they say goodbye.' }],
  })
  await ada.ask('POST', '/phone-numbers', { phone_number: '+14155550100', provider: 'sim', agent_id })
  const { context, page, faults, strays } = await open(url)
  await context.addCookies(ada.cookies())
  const click = (name: string | RegExp) => page.getByRole('button', { name, exact: typeof name === 'string' }).click()
  const choose = (name: string) => page.getByRole('menuitem', { name }).click()
  const fill = (label: string, value: string) => page.getByLabel(label, { exact: true }).fill(value)

  await t.test('an agent is given the tools of an MCP server, and shows what it lists', async (t) => {
    const example = await startMcpExample(t)
    const desk = await ada.ask('POST', '/agents', { agent_name: 'Front desk', system_prompt: 'You answer.' })
    await page.goto(`${url}/console/agents/${desk.agent_id}?tab=tools`)
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
    const { tools } = await ada.ask<{ tools: object[] }>('GET', `/agents/${desk.agent_id}`)
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
    await ada.ask('DELETE', `/agents/${desk.agent_id}`)
  })

  await t.test('a webhook: its secret once, a test, what was delivered, sent again', async (t) => {
    await page.goto(`${url}/console/developers`)
    await click('New webhook')
    await fill('Address', receiver.url)
    await fill('What it is for', MARKUP)
    await click('Create webhook')
    await page
      .getByRole('dialog')
      .getByText(/^whsec_/)
      .waitFor()
    await click('I have kept it')
    await page.getByRole('link', { name: receiver.url }).click()
    await page.getByText('Everything', { exact: true }).waitFor()
    t.equal(await page.getByText('whsec_').count(), 0, 'it is shown no second time')
    await click('Send a test')
    const { body } = await receiver.of('webhook.test')
    const list = page.getByRole('list', { name: 'Deliveries' })
    await list.getByRole('button', { name: 'webhook.test Delivered' }).waitFor()
    await list.getByText('webhook.test').click()
    await page.getByRole('dialog').getByText(`"id": "${body.id}"`).waitFor()
    await page.getByRole('dialog').getByText(MARKUP).waitFor()
    t.not(await page.title(), '1', 'what the webhook answered is text')
    const before = receiver.received.length
    await click('Send again')
    await told(page, /It is sent again/)
    await receiver.of('webhook.test', () => receiver.received.length > before)

    await click('Change')
    await page.getByRole('switch', { name: 'Subscribed to everything' }).click()
    await page.getByLabel(/^call.ended/).check()
    await click('Save')
    await page.getByText('call.ended', { exact: true }).waitFor()
    await click('More')
    await choose('New secret')
    await click('New secret')
    await page
      .getByRole('dialog')
      .getByText(/^whsec_/)
      .waitFor()
    await click('I have kept it')
    await page.getByText('The secret before signs until').waitFor()
    await click('More')
    await choose('Switch off')
    await page.getByText('It is off').waitFor()
    await page.getByRole('button', { name: 'Switch on' }).click()
    await page.getByText('It is off').waitFor({ state: 'detached' })
    await click('More')
    await choose('Send what it missed')
    await click('Send')
    await told(page, /events? (is|are) sent/)
    await click('More')
    await choose('Delete')
    await click('Delete webhook')
    await page.getByText('No webhooks').waitFor()
  })

  await t.test('an API key is shown once; what it asks for is seen; it is revoked', async (t) => {
    await page.goto(`${url}/console/developers?tab=keys`)
    await click('New key')
    await fill('Name', 'CRM')
    await click('Create key')
    await page.getByText('Your new key').waitFor()
    const key = await page.getByRole('dialog').getByText(/^pb_/).textContent()
    await click('I have kept it')
    const headers = { 'x-api-key': key ?? '', 'x-request-id': 'crm-1' }
    for (const path of ['/agents', `/agents/${MARKUP}`]) await (await fetch(`${url}${path}`, { headers })).text()
    await page.getByRole('tab', { name: 'Requests' }).click()
    const list = page.getByRole('list', { name: 'Requests of API keys' })
    await list.getByRole('button', { name: '200 GET /agents CRM' }).waitFor()
    await page.getByLabel('Status', { exact: true }).selectOption('4xx')
    await page.getByLabel('Key', { exact: true }).selectOption({ label: 'CRM' })
    await list.getByRole('button', { name: '200 GET /agents CRM' }).waitFor({ state: 'detached' })
    await list.getByRole('button', { name: '404 GET /agents/{agent_id} CRM' }).click()
    await page.getByRole('dialog').getByText('"detail": "Agent not found"').waitFor()
    await page.getByRole('dialog').getByText('crm-1', { exact: true }).waitFor()
    t.same(await axeFaults(page), [])
    await page.getByRole('dialog').getByRole('button', { name: 'Close' }).first().click()
    await page.getByRole('tab', { name: 'API keys' }).click()
    await click('Revoke CRM')
    await click('Revoke')
    await page.getByText('No API keys').waitFor()
  })

  await t.test('an agent: its pages and its analysis, kept', async (t) => {
    await page.goto(`${url}/console/agents/${agent_id}?tab=web`)
    await page.getByRole('switch', { name: 'Anybody may talk to this agent' }).click()
    await fill('Pages that may', 'https://shop.example.com/path')
    await click('Save')
    await page.getByText('must be an origin').first().waitFor()
    await fill('Pages that may', 'https://shop.example.com')
    await fill('Greeting', 'Ask me about rooms.')
    await page.getByLabel('Corner', { exact: true }).selectOption('bottom_left')
    const preview = page.getByRole('region', { name: 'Preview' })
    await preview.getByText('Ask me about rooms.').waitFor()
    await page.getByLabel('Picture').setInputFiles({ name: 'a.png', mimeType: 'image/png', buffer: Buffer.from('x') })
    await page.getByText('can’t read this file as a picture').waitFor()
    await page.getByLabel('Picture').setInputFiles({ name: 'a.png', mimeType: 'image/png', buffer: PICTURE })
    await preview.locator('img[src^="data:image/webp"]').first().waitFor()
    t.same(await axeFaults(page), [], 'the look and its preview are accessible')
    await click('Save')
    await page.getByText(`<patchbay-agent agent="${agent_id}">`).waitFor()
    const greets = async (words: string) => {
      await page.getByRole('tab', { name: 'Prompt' }).click()
      await page.getByLabel('First message').fill(words)
      await page.getByRole('tab', { name: 'Settings' }).click()
    }
    // So long that it is still said when it is stopped.
    await greets('Good day, and welcome to the house! '.repeat(8))
    await click('Hear it')
    await click('Stop')
    await page.getByRole('button', { name: 'Hear it' }).waitFor()
    await greets('Good day!')
    await fill('A call is a success when', 'The caller heard when breakfast is')
    const isSave = (answer: Response) => answer.request().method() !== 'GET' && answer.url().endsWith(agent_id)
    await page.getByRole('button', { name: 'Add a fallback' }).nth(1).click()
    await page.getByLabel('If that fails, 1.').selectOption('offline')
    await Promise.all([page.waitForResponse(isSave), click('Save')])
    await page.getByRole('tab', { name: /^Tools/ }).click()
    await click('Add tool')
    await page.getByLabel('What it does').selectOption('http')
    await fill('Name', 'health')
    await fill('Description', 'How the instance is.')
    await fill('Address', `http://127.0.0.1:${new URL(url).port}/health`)
    await fill('Test with these arguments', '{')
    await click('Test')
    await page.getByText('is no JSON').waitFor()
    await fill('Test with these arguments', '{}')
    await click('Test')
    await page.getByText('Worked').waitFor()
    await page.getByRole('dialog').locator('pre').filter({ hasText: 'ok' }).waitFor()
    t.same(await axeFaults(page), [], 'the form of a tool is accessible')
    await click('Cancel')
    t.match(await ada.ask('GET', `/agents/${agent_id}`), {
      public: {
        origins: ['https://shop.example.com'],
        look: { greeting: 'Ask me about rooms.', corner: 'bottom_left', avatar: /^data:image\/webp;base64,/ },
      },
      analysis: { success: 'The caller heard when breakfast is' },
      fallbacks: { LLM: [{ provider: 'offline' }] },
    })
  })

  await t.test('a document is read, found and deleted', async () => {
    await page.getByRole('tab', { name: 'Knowledge' }).click()
    await page.getByLabel('Documents to upload').setInputFiles({
      name: 'hours.txt',
      mimeType: 'text/plain',
      buffer: Buffer.from(`The pool is open from six in the morning. ${MARKUP}`),
    })
    await page.getByText('Ready').waitFor({ timeout: LIMIT_MS })
    await fill('Question', 'When is the pool open?')
    await click('Look up')
    await page.getByText('passage 1').waitFor()
    await page.getByText(MARKUP).last().waitFor()
    await page.getByLabel('How it is looked for').selectOption('By meaning')
    await click('Look up')
    await page.getByText('needs a provider of embeddings').waitFor()
    await page.getByLabel('How it is looked for').selectOption('By words')
    await click('Look up')
    await page.getByText('passage 1').waitFor()
    await click('Delete hours.txt')
    await click('Delete')
    await page.getByText('No documents').waitFor()
  })

  await t.test('a campaign, from its file to its outcomes', async (t) => {
    await page.goto(`${url}/console/campaigns`)
    await page.getByRole('button', { name: 'New campaign' }).first().click()
    await fill('Name', MARKUP)
    await fill('Not before', '00:00')
    await fill('Not after', '23:59')
    await page.getByLabel('Call only people who agreed').check()
    await click('Create campaign')
    const wizard = page.getByRole('dialog', { name: MARKUP })
    await wizard.getByRole('listitem').filter({ hasText: 'People' }).waitFor()
    await page.getByLabel('File').setInputFiles({ name: 'guests.csv', mimeType: 'text/csv', buffer: Buffer.from(CSV) })
    await page.getByText('Say which column has the phone numbers').waitFor()
    t.same(await axeFaults(page), [], 'the wizard is accessible')
    await page.getByLabel('What Mobile is').selectOption('Phone number')
    await page.getByLabel('What Notes is').selectOption('Leave out')
    await wizard.getByText('2 of them are held').waitFor()
    await wizard.getByRole('row', { name: 'Line 4 12 No phone number' }).waitFor()
    await wizard.getByRole('row', { name: 'Line 5 +442071838751 Already there' }).waitFor()
    const [, list] = await ada.ask<unknown[]>('GET', '/api/v/list/')
    t.equal(list, undefined, 'nothing is stored before it is sent')
    await page.getByLabel('Everybody in this file agreed').check()
    await wizard.getByText('2 of them are held').waitFor({ state: 'detached' })
    t.equal(await page.getByLabel('Name of the list').inputValue(), 'guests')
    await wizard.getByRole('button', { name: 'Upload' }).click()
    await fill('Your number', '+442071838759')
    await click('Call me')
    await wizard.getByText('The agent is calling you').waitFor({ timeout: LIMIT_MS })
    await click('Next')
    await wizard.getByText('Only those who agreed are called').waitFor()
    await wizard.getByText('Within seconds of the start').waitFor({ timeout: LIMIT_MS })
    await wizard.getByRole('button', { name: 'Later' }).click()
    await page.getByText('2 of 4 loaded').waitFor({ timeout: LIMIT_MS })
    await page.getByText('consent stated by Ada Lovelace').waitFor()
    const zones = page.getByRole('list', { name: 'Who waits, and where' })
    await zones
      .getByRole('listitem')
      .filter({ hasText: /London.*2\s*callable now/ })
      // Nobody is called in the last minute of London's day.
      .waitFor({ timeout: LIMIT_MS })
    await page.getByText('1 refused: why').waitFor()
    await click('Settings')
    await fill('Budget', '50')
    await click('Save')
    await click('Start')
    await page.getByRole('heading', { name: 'Outcomes', exact: true }).waitFor({ timeout: LIMIT_MS })
    await page.getByRole('figure', { name: 'Outcomes over time' }).waitFor({ timeout: LIMIT_MS })
    await page.getByRole('table', { name: 'People' }).getByText('1 try').first().waitFor({ timeout: LIMIT_MS })
    await page.getByRole('link', { name: 'Show calls' }).click()
    const done = page.getByRole('table', { name: 'Calls' }).getByRole('row', { name: /Completed/ })
    await done.first().getByRole('link').click({ timeout: LIMIT_MS })
    await page.getByRole('complementary').getByRole('link', { name: 'Open', exact: true }).click()
    await page.getByRole('heading', { name: 'Analysis' }).waitFor()
    await page.getByRole('heading', { name: MARKUP }).waitFor()
    await click('Analyse again')
    await told(page, /It is read again/)
    const [campaign] = await ada.ask<{ slug: string; budget: number }[]>('GET', '/api/v/campaign/')
    t.equal(campaign?.budget, 50)
    await page.goto(`${url}/console/campaigns/${campaign?.slug}`)
    await click('More')
    await choose('Delete')
    await click('Delete campaign')
    await page.getByText('No campaigns yet').waitFor()
  })

  await t.test('a batch runs, and is deleted', async () => {
    await page.goto(`${url}/console/batches?new=true`)
    await fill('Name', 'Arrivals')
    await page.getByLabel('File').setInputFiles({
      name: 'a.csv',
      mimeType: 'text/csv',
      buffer: Buffer.from('Handy,name\n+14155550123,Grace\nnone,Nobody\n'),
    })
    await page.getByLabel('Column with the phone numbers').selectOption('Handy')
    await page.getByRole('row', { name: 'Line 3 none No phone number' }).waitFor()
    await click('Upload')
    await click('Start')
    await page.getByRole('list', { name: 'Rows' }).getByText('Completed').waitFor({ timeout: LIMIT_MS })
    await click('Delete')
    await click('Delete the batch')
    await page.getByText('No batches yet').waitFor()
  })

  await t.test(
    'an account: invited into a workspace, which it leaves, the password changed, all of it deleted',
    async (t) => {
      const grace = userOf(url, 'grace@example.com')
      await grace.enter('Grace Hopper')
      await page.goto(`${url}/console/workspace`)
      await page.getByLabel('E-mail').fill('grace@example.com')
      await click('Invite')
      await page.getByRole('row', { name: /Grace Hopper/ }).waitFor()
      const visit = await open(url)
      await visit.context.addCookies(grace.cookies())
      const her = visit.page
      await her.goto(`${url}/console/account`)
      await her.getByRole('button', { name: /^Leave Ada/ }).click()
      await her.getByRole('button', { name: 'Leave', exact: true }).click()
      await told(her, /You left/)
      await her.getByLabel('Current password').fill('wrong horse')
      await her.getByLabel('New password').fill('battery staple')
      await her.getByRole('button', { name: 'Change password' }).click()
      await her.getByText('Invalid email or password').first().waitFor()
      await her.getByLabel('Current password').fill(PASSWORD)
      await her.getByRole('button', { name: 'Change password' }).click()
      await told(her, /Every other session ended/)
      await her.getByRole('button', { name: 'Delete account' }).click()
      await her.getByLabel('Password', { exact: true }).fill('battery staple')
      await her.getByRole('button', { name: 'Delete for good' }).click()
      await her.getByRole('heading', { name: 'Sign in' }).waitFor()
      t.same(visit.faults, [])
    },
  )

  await t.test('a colleague without an account signs up by one link, and is in the workspace', async (t) => {
    await page.goto(`${url}/console/workspace`)
    await click('Create a link')
    const link = await page.getByRole('dialog', { name: 'Invitation link' }).locator('code').textContent()
    await click('I have kept it')
    await page.getByRole('row', { name: /Anyone with the link/ }).waitFor()
    const visit = await open(url)
    const their = visit.page
    await their.goto(link ?? '')
    await their.getByText(/You are invited to/).waitFor()
    t.same(await axeFaults(their), [], 'the page of the link is accessible')
    await their.getByLabel('Name').fill('Mary')
    await their.getByLabel('E-mail').fill('mary@example.com')
    await their.getByLabel('Password').fill(PASSWORD)
    await their.getByLabel('Phone number').fill('+14155550124')
    await their.getByRole('button', { name: 'Sign up' }).click()
    await their.getByRole('heading', { name: /Mary/ }).waitFor()
    await their.goto(`${url}/console/workspace`)
    await their.getByRole('row', { name: /mary@example.com/ }).waitFor()
    await their.getByRole('row', { name: /ada@example.com/ }).waitFor()
    await their.goto(link ?? '')
    await their.getByText('This link does not work').waitFor()
    t.same(visit.faults, [])
  })

  await t.test('a dialog asks before it throws away what was typed, and gives the focus back', async (t) => {
    await page.goto(`${url}/console/agents`)
    const opener = page.getByRole('button', { name: 'New agent' }).first()
    await opener.click()
    const dialog = page.getByRole('dialog')
    await dialog.getByLabel('Name').fill('Half an agent')
    await page.keyboard.press('Escape')
    await dialog.getByText('What you typed here is not saved.').waitFor()
    await dialog.getByRole('button', { name: 'Keep editing' }).click()
    t.equal(await dialog.getByLabel('Name').inputValue(), 'Half an agent')
    await page.keyboard.press('Escape')
    await dialog.getByRole('button', { name: 'Discard' }).click()
    await dialog.waitFor({ state: 'detached' })
    await page.locator('button:focus').filter({ hasText: 'New agent' }).waitFor()
    await opener.click()
    await page.keyboard.press('Escape')
    await dialog.waitFor({ state: 'detached' })
    t.pass('what is unchanged closes at once')
  })

  t.not(await page.title(), '1', 'no markup ran')
  t.same(faults, [], 'nothing broke')
  t.same(strays, [], 'no request left the instance')
})
