import t from 'tap'
import { PatchbayError } from '../../../../../runtime/lib/errors.ts'
import { isWorkbook, workbookRecords } from '../../../../../runtime/lib/workbook/workbook.ts'
import { makeWorkbook, makeZip, workbookOf } from '../../../../support/world/documents.ts'

/** Reads the file in pieces of this many bytes. */
async function read(file: Uint8Array, pieceBytes = 1000): Promise<string[][]> {
  const pieces = async function* () {
    for (let at = 0; at < file.length; at += pieceBytes) yield file.subarray(at, at + pieceBytes)
  }
  const records: string[][] = []
  for await (const some of workbookRecords(pieces())) records.push(...some)
  return records
}

const codeOf = (file: Uint8Array) =>
  read(file).then(
    () => 'read',
    (error) => (error instanceof PatchbayError ? error.code : String(error)),
  )

const HEADER = '<row r="1"><c r="A1" t="inlineStr"><is><t>phone_number</t></is></c></row>'

t.test('reads texts of the table and of cells, in runs, without how they are read aloud', async (t) => {
  const file = makeWorkbook({
    texts: [
      '<t>phone_number</t>',
      '<r><t>A</t></r><r><rPr><b/></rPr><t xml:space="preserve">da </t></r>',
      '<t>東京</t><rPh sb="0" eb="2"><t>トウキョウ</t></rPh><phoneticPr fontId="1"/>',
      '<t>Smith &amp; Sons &#x20AC;</t>',
    ],
    rows:
      '<row r="1"><c r="A1" t="s"><v>0</v></c><c r="B1" t="inlineStr"><is><r><t>na</t></r><r><t>me</t></r></is></c></row>' +
      '<row r="2"><c r="A2" t="s"><v>1</v></c><c r="B2" t="s"><v>2</v></c><c r="C2" t="s"><v>3</v></c><c r="D2" t="s"><v>9</v></c></row>' +
      '<row r="3"><c r="A3" t="inlineStr"><is><t>a_x000D_b_x005F_x000D_</t></is></c></row>',
  })
  t.same(await read(file), [['phone_number', 'name'], ['Ada', '東京', 'Smith & Sons €'], ['a\rb_x000D_']])
})

t.test('puts cells where they stand, and leaves empty rows out', async (t) => {
  const file = makeWorkbook({
    rows:
      `${HEADER}<row r="2"/><row r="3"><c r="A3"/><c r="B3" s="0"/></row>` +
      '<row r="9"><c r="C9"><v>3</v></c><c r="E9" t="b"><v>1</v></c><c r="F9" t="b"/></row>' +
      '<row><c><v>1</v></c><c t="e"><v>#N/A</v></c></row>',
  })
  t.same(await read(file), [['phone_number'], ['', '', '3', '', 'TRUE'], ['1', '#N/A']])
})

t.test('reads numbers in full, the results of formulas, and the digits that a format shows', async (t) => {
  const file = makeWorkbook({
    formats: ['00000', '+0', '&quot;+&quot;#', '0.00E+00', '[Red]#,##0.00;[Blue]-0'],
    rows:
      '<row><c><v>441234567890</v></c><c><v>4.41234567890E+11</v></c><c><v>0.30000000000000004</v></c></row>' +
      '<row><c s="1"><v>1234</v></c><c s="2"><v>14155550100</v></c><c s="3"><v>14155550101</v></c><c s="4"><v>12</v></c><c s="5"><v>7</v></c></row>' +
      '<row><c t="str"><f>A1&amp;"x"</f><v>+14155550102</v></c><c><f>1+1</f><v>2</v></c><c t="str"><f>NOW()</f></c><c t="inlineStr"><is><t>4.41E+11</t></is></c></row>',
  })
  t.same(await read(file), [
    ['441234567890', '441234567890', '0.3'],
    ['01234', '+14155550100', '+14155550101', '12', '7'],
    ['+14155550102', '2', '', '4.41E+11'],
  ])
})

t.test('reads dates of both calendars by ISO 8601', async (t) => {
  const formats = ['yyyy\\-mm\\-dd', '[$-409]m/d/yy h:mm AM/PM;@', 'h:mm', '0 &quot;days&quot;']
  const rows =
    '<row><c s="1"><v>45988</v></c><c s="2"><v>45988.4375</v></c><c s="3"><v>0.4375</v></c><c s="4"><v>3</v></c></row>' +
    '<row><c s="1"><v>14155550100</v></c><c t="d"><v>2026-11-28</v></c></row>'
  const [first, second] = await read(makeWorkbook({ formats, rows }))
  t.same(first, ['2025-11-27', '2025-11-27T10:30:00', '10:30:00', '3'])
  t.same(second, ['14155550100', '2026-11-28'], 'what is no date stays a number')
  const [later] = await read(makeWorkbook({ formats, rows, properties: '<workbookPr date1904="1"/>' }))
  t.equal(later?.[0], '2029-11-28')
})

t.test('reads the first sheet that people see, whatever the prefixes of its names', async (t) => {
  const rows = HEADER.replace(/<(\/?)(\w)/g, '<$1x:$2')
  t.same(await read(makeWorkbook({ rows, isBehindHidden: true })), [['phone_number']])
})

t.test('reads a file the same in whatever pieces it comes', async (t) => {
  const records = [
    ['phone_number', 'näme 東'],
    ...Array.from({ length: 500 }, (_, at) => [`+1415555${at + 1000}`, 'Zoë']),
  ]
  for (const pieceBytes of [1, 7, 100_000])
    t.same(await read(workbookOf(records), pieceBytes), records, `${pieceBytes}`)
})

t.test('knows a workbook by its first bytes', async (t) => {
  t.ok(isWorkbook(workbookOf([['a']])))
  t.ok(isWorkbook(Buffer.from('d0cf11e0a1b11ae10000', 'hex')))
  t.notOk(isWorkbook(Buffer.from('PK,phone_number\n')))
  t.notOk(isWorkbook(Buffer.from('P')))
})

t.test('refuses what it cannot read', async (t) => {
  const unreadable = 'workbook_unreadable'
  const whole = workbookOf([['phone_number']])
  t.equal(await codeOf(Buffer.from('d0cf11e0a1b11ae1', 'hex')), unreadable, '.xls, or a password')
  t.equal(await codeOf(whole.subarray(0, whole.length - 30)), unreadable, 'cut off')
  t.equal(await codeOf(makeZip({ 'a.txt': 'a' })), unreadable, 'another archive')
  const broken = Buffer.from(whole)
  broken.fill(0xff, 100, 160)
  t.equal(await codeOf(broken), unreadable, 'damaged')
  const long = 'a'.repeat(2 * 1024 * 1024)
  for (const rows of [`<row r="${long}"/>`, `<!--${long}-->`, `<a>`.repeat(200)]) {
    t.equal(await codeOf(makeWorkbook({ rows })), unreadable, rows.slice(0, 8))
  }
})

t.test('refuses what is larger than any table', async (t) => {
  const big = 'workbook_too_large'
  const row = '<row><c><v>1</v></c></row>'
  t.equal(await codeOf(makeWorkbook({ rows: row.repeat(100_001) })), 'read', 'a header and 100,000 rows')
  t.equal(await codeOf(makeWorkbook({ rows: row.repeat(100_002) })), big, 'one more')
  t.equal(await codeOf(makeWorkbook({ rows: `${HEADER}${' '.repeat(257 * 1024 * 1024)}` })), big, 'a bomb')
  t.equal(
    await codeOf(makeWorkbook({ rows: HEADER, texts: Array(300).fill(`<t>${'a'.repeat(60_000)}</t>`) })),
    big,
    'texts',
  )
  const named = { rows: '<row><c t="s"><v>0</v></c></row>'.repeat(3_000), texts: [`<t>${'a'.repeat(60_000)}</t>`] }
  t.equal(await codeOf(makeWorkbook(named)), big, 'a long text in every row')
  t.equal(await codeOf(makeWorkbook({ rows: HEADER, properties: ' '.repeat(5 * 1024 * 1024) })), big, 'a part')
  t.equal(await codeOf(makeWorkbook({ rows: '<row><c r="ALM1"><v>1</v></c></row>' })), 'csv_too_many_columns')
  t.equal(await codeOf(makeWorkbook({ rows: '<row><c r="AAAAAAAA1"><v>1</v></c></row>' })), 'csv_too_many_columns')
  t.equal(
    await codeOf(makeWorkbook({ rows: `<row><c t="str"><v>${'a'.repeat(70_000)}</v></c></row>` })),
    'csv_row_too_long',
  )
  const cells = `<c t="str"><v>${'a'.repeat(40_000)}</v></c>`.repeat(2)
  t.equal(await codeOf(makeWorkbook({ rows: `<row>${cells}</row>` })), 'csv_row_too_long')
})
