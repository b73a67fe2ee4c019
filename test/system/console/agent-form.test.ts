import t from 'tap'
import { axeFaults, startBrowsers, withoutChromium } from '../../support/browser/console.ts'
import { userOf } from '../../support/browser/console-user.ts'
import { startInstance } from '../../support/instance/instance.ts'

const LIMIT_MS = 45_000

t.test('the form of an agent', { skip: withoutChromium }, async (t) => {
  const { url } = await startInstance(t)
  const open = await startBrowsers(t)
  const ada = userOf(url, 'ada@example.com')
  await ada.enter('Ada Lovelace')
  const { agent_id } = await ada.ask('POST', '/agents', { agent_name: 'Ava', system_prompt: 'You are Ava.' })
  const path = `/agents/${agent_id}`
  const { context, page, faults, strays } = await open(url)
  page.setDefaultTimeout(LIMIT_MS)
  await context.addCookies(ada.cookies())
  const save = async () => {
    const isSave = page.waitForResponse((answer) => answer.request().method() === 'PUT' && answer.url().endsWith(path))
    await page.getByRole('button', { name: 'Save', exact: true }).click()
    return (await isSave).json()
  }

  await t.test('languages of the recogniser are chosen by name, and any other by its tag', async (t) => {
    await page.goto(`${url}/console${path}?tab=settings`)
    const language = page.getByLabel('Language', { exact: true })
    await language.selectOption({ label: 'German' })
    t.match(await save(), { language: 'de' })
    await language.selectOption({ label: 'Several: it follows the caller' })
    t.match(await save(), { language: 'multi' })
    await language.selectOption({ label: 'Another, by its tag' })
    await language.fill('en-AU')
    t.match(await save(), { language: 'en-AU' })
    await page.reload()
    await page.getByRole('option', { name: 'Australian English' }).waitFor({ state: 'attached' })
    t.same(await axeFaults(page), [])
  })

  await t.test('a voice is chosen from a list, heard before; recording is a setting', async (t) => {
    await page.goto(`${url}/console${path}?tab=settings`)
    await page.getByRole('button', { name: 'Choose a voice' }).click()
    const dialog = page.getByRole('dialog', { name: 'Choose a voice' })
    const voices = dialog.getByRole('list', { name: 'Voices' }).getByRole('listitem')
    await voices.filter({ hasText: 'Chosen' }).waitFor()
    await dialog.getByLabel('Search voices').fill('no such voice')
    await dialog.getByText('No voice matches').waitFor()
    await dialog.getByLabel('Search voices').fill('german')
    await dialog.getByRole('button', { name: 'Use de', exact: true }).waitFor()
    const sample = page.waitForResponse((answer) => answer.url().endsWith('/voices/sample'))
    await dialog.getByRole('button', { name: 'Hear de', exact: true }).click()
    t.match((await sample).request().postDataJSON(), { TTS_voice: 'de' })
    t.same(await axeFaults(page), [])
    await dialog.getByRole('button', { name: 'Use de', exact: true }).click()
    await dialog.waitFor({ state: 'detached' })
    await page.getByLabel('Records its calls').selectOption('Always')
    t.match(await save(), { TTS_voice: 'de', recording: 'on' })
  })

  await t.test('arguments of a tool are rows, as long as rows can say them', async (t) => {
    const schema = {
      type: 'object',
      properties: {
        order_id: { type: 'string', description: 'The number on the invoice' },
        copies: { type: 'integer' },
      },
      required: ['order_id'],
    }
    await page.goto(`${url}/console${path}?tab=tools`)
    await page.getByRole('button', { name: 'Add tool' }).first().click()
    const dialog = page.getByRole('dialog')
    await dialog.getByLabel('What it does').selectOption('http')
    await dialog.getByLabel('Name', { exact: true }).fill('order_status')
    await dialog.getByLabel('Description', { exact: true }).fill('Looks up where an order is.')
    await dialog.getByLabel('Address').fill('https://api.example.com/orders/{{order_id}}')
    const another = dialog.getByRole('button', { name: 'Add an argument' })
    await another.click()
    await dialog.getByLabel('Name of argument 1').fill('order_id')
    await dialog.getByLabel('Description of argument 1').fill('The number on the invoice')
    await another.click()
    await dialog.getByLabel('Description of argument 2').fill('How many')
    await dialog.getByRole('button', { name: 'Add', exact: true }).click()
    await dialog.getByText('an argument has no name').waitFor()
    await dialog.getByLabel('Description of argument 2').fill('')
    await dialog.getByLabel('Name of argument 2').fill('order_id')
    await dialog.getByLabel('Kind of argument 2').selectOption({ label: 'Whole number' })
    await dialog.getByLabel('Required').nth(1).uncheck()
    await dialog.getByRole('button', { name: 'Add', exact: true }).click()
    await dialog.getByText('two arguments have the name order_id').waitFor()
    await dialog.getByLabel('Name of argument 2').fill('copies')
    t.equal(await dialog.getByLabel('Test with these arguments').inputValue(), '{"order_id":"","copies":0}')
    t.same(await axeFaults(page), [])
    await dialog.getByRole('button', { name: 'As JSON Schema' }).click()
    const text = dialog.getByLabel('Arguments', { exact: true })
    t.same(JSON.parse(await text.inputValue()), schema)
    await dialog.getByRole('button', { name: 'As rows' }).waitFor()
    const beyond = { ...schema, properties: { order_id: { type: 'string', pattern: '^[0-9]+$' } } }
    await text.fill(JSON.stringify(beyond))
    await dialog.getByRole('button', { name: 'As rows' }).waitFor({ state: 'detached' })
    await dialog.getByRole('button', { name: 'Add', exact: true }).click()
    t.match(await save(), { tools: [{ name: 'order_status', parameters: beyond }] })
    await page.getByRole('button', { name: 'Edit', exact: true }).click()
    t.same(JSON.parse(await text.inputValue()), beyond, 'what rows cannot say is shown as it is')
  })

  await t.test('a tool keeps what its form does not show', async (t) => {
    const tools = [
      { type: 'mcp', plugin: 'demo', allow: ['free_rooms_en'] },
      { type: 'client', name: 'show_map', description: 'Shows where it is.', parameters: { type: 'object' } },
    ]
    await ada.ask('PATCH', path, { tools })
    await page.goto(`${url}/console${path}?tab=tools`)
    await page.getByText('demo: free_rooms_en').waitFor()
    const edit = page.getByRole('button', { name: 'Edit', exact: true })
    const change = page.getByRole('button', { name: 'Change', exact: true })
    await edit.first().click()
    await page.getByLabel('Its tools the agent may use').fill('free_rooms_en, book_room_en')
    await change.click()
    await edit.nth(1).click()
    await page.getByLabel('Description', { exact: true }).fill('Shows the way.')
    await change.click()
    const saved = await save()
    t.match(saved, {
      tools: [{ plugin: 'demo', allow: ['free_rooms_en', 'book_room_en'] }, { description: 'Shows the way.' }],
    })
    t.match(saved.tools[1].parameters, { type: 'object' })
  })

  t.same(faults, [], 'no page threw')
  t.same(strays, [], 'no page asked another host')
})
