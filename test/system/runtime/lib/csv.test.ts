import { isDeepStrictEqual } from 'node:util'
import { parse } from 'csv-parse/sync'
import fc from 'fast-check'
import t from 'tap'
import { createCsvReader } from '../../../../runtime/lib/csv.ts'

/** Reads the bytes in pieces of this many. */
function read(bytes: Uint8Array | string, pieceBytes = 7): string[][] {
  const all = Buffer.from(bytes as string)
  const reader = createCsvReader()
  const records: string[][] = []
  for (let at = 0; at < all.length; at += pieceBytes) records.push(...reader.push(all.subarray(at, at + pieceBytes)))
  return [...records, ...reader.end()]
}

const TABLE = [
  ['phone_number', 'name'],
  ['+14155550100', 'Ada'],
]

t.test('reads commas, semicolons, tabs and bars alike', async (t) => {
  for (const separator of [',', ';', '\t', '|']) {
    t.same(read(TABLE.map((row) => row.join(separator)).join('\n')), TABLE, JSON.stringify(separator))
  }
})

t.test('reads every line ending, with and without one at the end', async (t) => {
  for (const end of ['\n', '\r\n', '\r']) {
    const text = TABLE.map((row) => row.join(',')).join(end)
    t.same(read(text), TABLE, JSON.stringify(end))
    t.same(read(text + end), TABLE, `${JSON.stringify(end)} at the end`)
  }
})

t.test('reads UTF-8 and UTF-16 with and without a byte order mark, and Windows-1252', async (t) => {
  const text = 'phone_number,name\n+33123456789,Zoë Œuvré\n'
  const expected = [
    ['phone_number', 'name'],
    ['+33123456789', 'Zoë Œuvré'],
  ]
  const utf16be = (s: string) => Buffer.from(s, 'utf16le').swap16()
  t.same(read(text), expected, 'UTF-8')
  t.same(read(`\ufeff${text}`), expected, 'UTF-8 with mark')
  t.same(read(Buffer.from(`\ufeff${text}`, 'utf16le')), expected, 'UTF-16LE with mark')
  t.same(read(Buffer.from(text, 'utf16le')), expected, 'UTF-16LE')
  t.same(read(utf16be(`\ufeff${text}`)), expected, 'UTF-16BE with mark')
  t.same(read(utf16be(text)), expected, 'UTF-16BE')
  const windows = Buffer.from(text.replace('Œ', '\x8c'), 'latin1')
  for (let pieceBytes = 1; pieceBytes < 30; pieceBytes++) t.same(read(windows, pieceBytes), expected, 'Windows-1252')
})

t.test('reads quoted cells with separators, quotes and line breaks inside', async (t) => {
  t.same(read('a,b\n"x, y","say ""hi"""\nplain,"two\r\nlines"\nlast,row\n'), [
    ['a', 'b'],
    ['x, y', 'say "hi"'],
    ['plain', 'two\r\nlines'],
    ['last', 'row'],
  ])
})

t.test('takes a quote inside a cell as text', async (t) => {
  t.same(read('a,b\n5" pipe,1\nnext,2\n'), [
    ['a', 'b'],
    ['5" pipe', '1'],
    ['next', '2'],
  ])
})

t.test('trims cells, leaves out empty records and NUL characters', async (t) => {
  t.same(read(' a , b \n\n,,\n   \n 1 , 2\0 \n'), [
    ['a', 'b'],
    ['1', '2'],
  ])
})

t.test('refuses a file that ends inside quotes and a record without end', async (t) => {
  t.throws(() => read('a,b\n"open,1\n'), { code: 'malformed_body' })
  const reader = createCsvReader()
  t.throws(
    () => {
      for (let i = 0; i < 40; i++) reader.push(Buffer.alloc(64 * 1024, 'x'))
    },
    { code: 'csv_row_too_long' },
  )
})

t.test('reads what csv-parse reads, whatever the pieces', async () => {
  const cell = fc.string({ maxLength: 6, unit: fc.constantFrom('a', ' ', ',', '"', '\n', 'é', '€') })
  const table = fc.array(fc.array(cell, { minLength: 2, maxLength: 3 }), { minLength: 1, maxLength: 6 })
  fc.assert(
    fc.property(table, fc.integer({ min: 1, max: 20 }), (rows, pieceBytes) => {
      const quote = (text: string) => (/[",\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text)
      const text = `h1,h2\n${rows.map((row) => row.map(quote).join(',')).join('\n')}\n`
      const filled = (record: string[]) => record.some((one) => one.trim() !== '')
      const expected = parse(text, { relax_column_count: true, trim: true }).filter(filled)
      return isDeepStrictEqual(read(text, pieceBytes).filter(filled), expected)
    }),
    { numRuns: 300 },
  )
})

t.test('quotes cost what the text is long, however many stand in a line', (t) => {
  const reader = createCsvReader()
  const line = `a,${'a"'.repeat(31_000)}\n`
  const before = process.cpuUsage()
  reader.push(Buffer.from(`x,y\n${line.repeat(150)}`))
  const { user } = process.cpuUsage(before)
  t.ok(user < 30_000_000, `${user} µs`)
  t.end()
})

t.test('a row over 64 KiB is refused, whole or still open', (t) => {
  const code = (text: string) => {
    try {
      createCsvReader().push(Buffer.from(text))
    } catch (error) {
      return (error as { code: string }).code
    }
    return undefined
  }
  t.equal(code(`x\n${'a'.repeat(60_000)}\n`), undefined)
  t.equal(code(`x\n${'a'.repeat(70_000)}\n`), 'csv_row_too_long')
  t.equal(code(`x\n${'a'.repeat(70_000)}`), 'csv_row_too_long')
  t.equal(code(`x\n"${'a\n'.repeat(40_000)}"\n`), 'csv_row_too_long')
  t.end()
})

t.test('text is clean in every encoding, and a pair that lies in two pieces stays one', async (t) => {
  const text = 'name,note\nAda,a\0b 😀\nBob,😀😀😀\n'
  const wanted = [
    ['name', 'note'],
    ['Ada', 'ab 😀'],
    ['Bob', '😀😀😀'],
  ]
  for (const bytes of [Buffer.from(text), Buffer.from(`\ufeff${text}`, 'utf16le')]) {
    for (const pieceBytes of [1, 2, 3, 7]) t.same(read(bytes, pieceBytes), wanted)
  }
  const lone = Buffer.from('\ufeffname,note\nAda,x\ud83d y\nBob,\udc4d\ud83d\n', 'utf16le')
  t.same(read(lone), [
    ['name', 'note'],
    ['Ada', 'x\ufffd y'],
    ['Bob', '\ufffd\ufffd'],
  ])
})

t.test('a first line that names the separator is no header', async (t) => {
  for (const end of ['\n', '\r\n', '\r']) {
    for (const size of [1, 3, 100]) {
      const text = [`sep=;`, 'a;b,c', '1;2', ''].join(end)
      const reader = createCsvReader()
      const bytes = Buffer.from(text)
      const records = []
      for (let at = 0; at < bytes.length; at += size) records.push(...reader.push(bytes.subarray(at, at + size)))
      t.same(
        [...records, ...reader.end()],
        [
          ['a', 'b,c'],
          ['1', '2'],
        ],
      )
    }
  }
  const reader = createCsvReader()
  t.same(
    [...reader.push(Buffer.from('separate,b\n1,2\n')), ...reader.end()],
    [
      ['separate', 'b'],
      ['1', '2'],
    ],
  )
})
