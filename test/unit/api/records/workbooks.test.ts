import t from 'tap'
import { startTestApi } from '../../../support/instance/api.ts'
import { startTestJobs } from '../../../support/instance/jobs.ts'
import { until } from '../../../support/instance/realtime-node.ts'
import { makeWorkbook, workbookOf } from '../../../support/world/documents.ts'

const FROM = '+14155550100'
const api = await startTestApi(t)
await startTestJobs(t, api)
const { client } = await api.signUp()
const made = await client.post('/agents', { body: { agent_name: 'Ada', system_prompt: 'You answer.' } })
const agentId: string = made.body.agent_id
await client.post('/phone-numbers', { body: { phone_number: FROM, provider: 'sim', agent_id: agentId } })
const batch = { name: 'March', agent_id: agentId, agent_phone_number: FROM }

function form(field: string, file: Uint8Array<ArrayBuffer>, more: Record<string, string> = {}): FormData {
  const data = new FormData()
  for (const [name, value] of Object.entries(more)) data.append(name, value)
  data.append(field, new Blob([file]), 'leads.xlsx')
  return data
}

/** As a spreadsheet keeps what somebody typed: a number that lost its plus, one that a format shows with it, one as text, a date. */
const LEADS = makeWorkbook({
  formats: ['+0', 'yyyy\\-mm\\-dd'],
  texts: ['<t>Phone Number</t>', '<t>first_name</t>', '<t>renews_on</t>', '<t>+14155550142</t>', '<t>Zoë</t>'],
  rows:
    '<row><c t="s"><v>0</v></c><c t="s"><v>1</v></c><c t="s"><v>2</v></c></row>' +
    '<row><c t="s"><v>3</v></c><c t="s"><v>4</v></c><c s="2"><v>46388</v></c></row>' +
    '<row><c s="1"><v>14155550143</v></c><c t="s"><v>4</v></c></row>' +
    '<row><c><v>14155550144</v></c></row>' +
    '<row><c t="inlineStr"><is><t>4.41E+11</t></is></c></row>',
})

t.test('a batch is made of a workbook as of a CSV', async (t) => {
  const { status, body } = await client.post('/batch/upload', { form: form('file', LEADS, batch) })
  t.equal(status, 201, JSON.stringify(body))
  t.match(body.counts, { total: 4, pending: 2, failed: 2 })
  const { body: found } = await client.get(`/batch/${body.batch_id}/items`)
  t.match(found.items, [
    { phone_number: '+14155550142', dynamic_variables: { first_name: 'Zoë', renews_on: '2027-01-01' } },
    { phone_number: '+14155550143', dynamic_variables: { first_name: 'Zoë', renews_on: '' } },
    { phone_number: '14155550144', status: 'failed', error: 'Invalid phone number format' },
    { phone_number: '4.41E+11', status: 'failed' },
  ])
  const preview = await client.post('/batch/preview', { form: form('file', LEADS) })
  t.match(preview.body, { filename: 'leads.xlsx', rows: { total: 4, called: 2, invalid: 2 } })
})

t.test('a campaign takes a workbook, its mapping and its preview', async (t) => {
  const { body: campaign } = await client.post('/api/v/campaign/', { body: { name: 'Renewals', agent_id: agentId } })
  const mapping = { mapping: '{"Phone Number":"primary_phone"}' }
  const preview = await client.post(`/api/v/campaign/${campaign.slug}/preview/`, {
    form: form('original_data', LEADS, mapping),
  })
  t.equal(preview.status, 200, JSON.stringify(preview.body))
  const { status, body } = await client.post(`/api/v/upload/${campaign.slug}/`, {
    form: form('original_data', LEADS, mapping),
  })
  t.equal(status, 201, JSON.stringify(body))
  await until(async () => (await client.get(`/api/v/upload/${body.uuid}/`)).body.status === 'completed')
  const loaded = await client.get(`/api/v/upload/${body.uuid}/`)
  t.match(
    loaded.body.rows,
    { total: 4, loaded: 3, invalid: 1 },
    'a number without its country code is of the campaign’s',
  )
})

t.test('the do-not-call list takes a workbook, and says which lines it did not take', async (t) => {
  const { status, body } = await client.post('/do-not-call/upload', { form: form('file', LEADS) })
  t.equal(status, 201)
  t.match(body, {
    ...{ complete: false, rows: 4, added: 2, invalid: 2 },
    invalid_lines: [
      { line: 4, phone_number: '14155550144', reason: /^It has no country code/ },
      { line: 5, phone_number: '4.41E+11', reason: /^A spreadsheet has shortened the number/ },
    ],
  })
})

t.test('a workbook is refused in the words of a CSV, and one that cannot be read in its own', async (t) => {
  const cases: [string, Uint8Array<ArrayBuffer>, string][] = [
    ['no column of numbers', workbookOf([['name'], ['Ada']]), 'CSV must have a phone_number column'],
    ['no rows', workbookOf([['phone_number']]), 'CSV has no rows'],
    [
      'too many columns',
      workbookOf([
        [
          'phone_number',
          ...Array(201)
            .fill('x')
            .map((x, at) => x + at),
        ],
        ['1'],
      ]),
      'CSV has too many columns',
    ],
    [
      'a long row',
      workbookOf([
        ['phone_number', 'x'],
        ['1', 'x'.repeat(70_000)],
      ]),
      'CSV has a row of more than 64 KiB',
    ],
    [
      'an .xls',
      new Uint8Array(Buffer.from('d0cf11e0a1b11ae1', 'hex')),
      'Workbook is damaged, has a password or is of the old',
    ],
    [
      'a bomb',
      makeWorkbook({ rows: '', texts: [`<t>${'0'.repeat(40_000_000)}</t>`] }),
      'Workbook has more than 100,000 rows, 32 MiB',
    ],
  ]
  for (const [name, file, detail] of cases) {
    const { status, body } = await client.post('/batch/upload', { form: form('file', file, batch) })
    t.equal(status, 400, name)
    t.ok(body.detail.startsWith(detail), `${name}: ${body.detail}`)
  }
  t.equal((await client.get('/batch')).body.length, 1, 'nothing is kept')
})
