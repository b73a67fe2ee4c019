import { deflateSync } from 'node:zlib'
import t from 'tap'
import type { DocumentFormat } from '../../../../runtime/knowledge/blocks.ts'
import { offload } from '../../../../runtime/process/offload/offload.ts'
import { memoryBounds } from '../../../../workers/documents/extract/memory-bounds.ts'
import {
  DEFAULT_LIMITS,
  type ExtractionLimits,
  extractChunks,
  extractionTask,
} from '../../../../workers/documents/extract/run.ts'
import { docxParagraph, docxTable, makeDocx, makePdf, makeZip } from '../../../support/world/documents.ts'

/** Chunks of a file, extracted in a process as the job does it. */
async function read(
  format: DocumentFormat,
  content: string | Uint8Array<ArrayBuffer>,
  limits: Partial<ExtractionLimits> = {},
): Promise<string[]> {
  const bytes = typeof content === 'string' ? new Uint8Array(Buffer.from(content)) : Uint8Array.from(content)
  const texts: string[] = []
  const keep = async (chunks: { text: string }[], first: number) => {
    if (first !== texts.length) throw new Error(`Batch ${first} came after ${texts.length} chunks`)
    texts.push(...chunks.map(({ text }) => text))
  }
  const count = await extractChunks(format, bytes, keep, { ...nobody, limits: { ...DEFAULT_LIMITS, ...limits } })
  if (count !== texts.length) throw new Error(`${count} chunks were promised and ${texts.length} came`)
  return texts
}

const nobody = { workspaceId: 'nobody', signal: new AbortController().signal }

const fails = (reason: string | RegExp) => ({ name: 'ExtractionError', message: reason })

t.test('Markdown becomes passages under their headings, links and emphasis plain', async (t) => {
  const text = `---
title: x
---
# Returns

See [our **shop**](https://example.com/shop).

Deadline
--------

| Item | Days |
| --- | --- |
| Shoes | 30 |

\`\`\`
# no heading
\`\`\`
`
  t.same(await read('md', text), [
    'Returns:\nSee our shop.',
    'Returns > Deadline:\nItem: Shoes; Days: 30\n\n# no heading',
  ])
})

t.test('HTML gives what a reader sees, rows whole', async (t) => {
  const html = `<html><head><title>T</title><style>p {}</style></head><body><nav>Menu</nav><h1>Fees</h1>
    <p>A visit is&nbsp;<a href="https://x.y">free</a>.</p><script>alert(1)</script>
    <table><tr><th><p>Kind</p></th><th>Price</th></tr><tr><td><p>Check</p><p>up</p></td><td>20 €</td></tr></table></body></html>`
  t.same(await read('html', html), ['Fees:\nA visit is free.\nKind: Check up; Price: 20 €'])
})

t.test('an HTML page may declare its own encoding', async (t) => {
  const page = Buffer.concat([
    Buffer.from('<meta charset="windows-1251"><p>'),
    Buffer.from([0xcf, 0xf0, 0xe8, 0xe2, 0xe5, 0xf2]),
  ])
  t.same(await read('html', new Uint8Array(page)), ['Привет'])
})

t.test('a Word document keeps headings and tables', async (t) => {
  const body =
    docxParagraph('Opening hours', 'Heading1') + docxParagraph('We open at nine.') + docxTable([['Monday', '9–18']])
  t.same(await read('docx', makeDocx(body)), ['Opening hours:\nWe open at nine.\nMonday | 9–18'])
})

t.test(
  'each row of a table with a header has the names of its columns, and what a cell says of several rows',
  async (t) => {
    const html = `<table><tr><th>Season</th><th>Room</th><th>Price</th></tr>
    <tr><td rowspan="2">Summer</td><td>Single</td><td>80</td></tr><tr><td>Double</td><td>120</td></tr></table>
    <table><tr><th>Phone</th><td>030 1234</td></tr></table>`
    t.same(await read('html', html), [
      'Season: Summer; Room: Single; Price: 80\nSeason: Summer; Room: Double; Price: 120\nPhone | 030 1234',
    ])
    t.same(await read('html', '<table><tr><th>Monday</th><th>Tuesday</th></tr></table><p>Closed.</p>'), [
      'Monday | Tuesday\n\nClosed.',
    ])
    const many = Array.from({ length: 300 }, (_, i) => `<tr><td>Room ${i}</td><td>${80 + i}</td></tr>`).join('')
    const chunks = await read('html', `<table><tr><th>Name</th><th>Price</th></tr>${many}</table>`)
    t.ok(chunks.length > 5)
    t.ok(chunks.every((chunk) => chunk.startsWith('Name: Room')))
  },
)

t.test('what a page or a Word file does not show is not read out of it', async (t) => {
  const html = `<p>We open at nine.</p><p hidden>staff only</p><div style="color:red; display:none">secret</div>
    <div id="main-cookie-banner">We use cookies.</div><p class="cookies">Our cookies have chocolate.</p>`
  t.same(await read('html', html), ['We open at nine.\n\nOur cookies have chocolate.'])
  const run = (text: string, properties: string) =>
    `<w:p><w:r><w:rPr>${properties}</w:rPr><w:t>${text}</w:t></w:r></w:p>`
  const body = `${docxParagraph('We open at nine.')}${run('secret', '<w:b/><w:vanish/>')}${run('seen', '<w:vanish w:val="0"/>')}`
  t.same(await read('docx', makeDocx(body)), ['We open at nine.\n\nseen'])
})

t.test('a PDF gives paragraphs under the lines in larger type', async (t) => {
  const pdf = makePdf([
    [
      [20, 'Parking'],
      [11, 'Visitors park behind the light-'],
      [11, 'house. It is free.'],
    ],
    [[11, 'Page two (last).']],
  ])
  t.same(await read('pdf', pdf), ['Parking:\nVisitors park behind the lighthouse. It is free.\n\nPage two (last).'])
})

t.test('CSV rows carry the names of their columns, whatever the separator', async (t) => {
  t.same(await read('csv', 'name;price\r\n"Tea; green";3\r\n\r\nCoffee;4\r\n'), [
    'name: Tea; green; price: 3\nname: Coffee; price: 4',
  ])
  t.same(await read('csv', 'a\tb\n1\t2'), ['a: 1; b: 2'])
})

t.test('JSON objects become records with the path that leads to them', async (t) => {
  const json = { shop: { city: 'Lyon', tags: ['old', 'blue'] }, staff: [{ name: 'Ada' }, { name: 'Bob', boss: null }] }
  t.same(await read('json', JSON.stringify(json)), [
    'shop: city: Lyon; tags: old, blue\nstaff: name: Ada\nstaff: name: Bob',
  ])
})

t.test('text is read in the encoding it has', async (t) => {
  const words = 'Größe naïve'
  const utf16be = Buffer.from(words, 'utf16le').swap16()
  const encodings: Record<string, Buffer> = {
    'UTF-8': Buffer.from(words),
    'UTF-8 with a mark': Buffer.from(`\ufeff${words}`),
    'Latin-1': Buffer.from(words, 'latin1'),
    'UTF-16 LE with a mark': Buffer.from(`\ufeff${words}`, 'utf16le'),
    'UTF-16 BE with a mark': Buffer.concat([Buffer.from([0xfe, 0xff]), utf16be]),
    'UTF-16 LE without a mark': Buffer.from(words, 'utf16le'),
    'UTF-16 BE without a mark': utf16be,
  }
  for (const [name, bytes] of Object.entries(encodings)) {
    t.same(await read('txt', new Uint8Array(bytes)), [words], name)
  }
  t.same(
    await read('txt', 'a\u0000b\u0007c'.padEnd(400, 'x')),
    ['abc'.padEnd(398, 'x')],
    'what no database holds is left out',
  )
})

t.test('a file that is not what its name says fails in words', async (t) => {
  const noise = new Uint8Array(3000).map((_, i) => (i * 7919) % 256)
  await t.rejects(read('txt', noise), fails('The file is not text'))
  await t.rejects(read('pdf', noise), fails('The PDF is damaged or not a PDF file'))
  await t.rejects(read('docx', noise), fails('The Word document is damaged or not a .docx file'))
  await t.rejects(read('docx', makeZip({ 'a.txt': 'a' })), fails('The Word document is damaged or not a .docx file'))
  await t.rejects(read('docx', makeDocx('x').slice(0, 200)), fails(/damaged/))
  // Bytes before an archive move its directory for readers that look for it, and not for those that believe its offset.
  const moved = Buffer.concat([makeDocx('x'), makeDocx(docxParagraph('other'))])
  await t.rejects(read('docx', moved), fails(/damaged/))
  await t.rejects(read('json', '{"a": '), fails(/^The JSON can't be read/))
  await t.rejects(read('txt', ' \n\t\n'), fails('The file has no text'))
  await t.rejects(read('pdf', makePdf([[]])), fails('The PDF has no text; its pages are probably scanned images'))
})

t.test('an archive that unpacks to more than it says is refused before it is unpacked', async (t) => {
  const bomb = makeDocx(docxParagraph('0'.repeat(300 * 1024 * 1024)), 1000)
  t.ok(bomb.length < 1024 * 1024)
  await t.rejects(read('docx', bomb), fails('The file unpacks to more than 256 MiB'))
})

t.test('a PDF that unpacks without end costs the memory it may, and no more', async (t) => {
  const zeros = deflateSync(Buffer.alloc(400 * 1024 * 1024, '0'))
  const head =
    '%PDF-1.4\n1 0 obj\n<< /Type /Catalog /Pages 2 0 R >>\nendobj\n2 0 obj\n<< /Type /Pages /Kids [3 0 R] /Count 1 >>\nendobj\n3 0 obj\n<< /Type /Page /Parent 2 0 R /Contents 4 0 R >>\nendobj\n'
  const stream = `4 0 obj\n<< /Length ${zeros.length} /Filter /FlateDecode >>\nstream\n`
  const end = '\nendstream\nendobj\ntrailer\n<< /Root 1 0 R >>\n%%EOF'
  const pdf = Buffer.concat([Buffer.from(head + stream), zeros, Buffer.from(end)])
  await t.rejects(read('pdf', new Uint8Array(pdf), { memoryBytes: 128 * 1024 * 1024, timeoutMs: 30_000 }), {
    name: 'ExtractionError',
  })
})

t.test('what takes too long, nests too deep or has too much text is ended, and the process goes on', async (t) => {
  const deep = '<div>'.repeat(200_000)
  await t.rejects(read('html', deep, { timeoutMs: 1500 }), { name: 'ExtractionError' })
  await t.rejects(read('json', '['.repeat(500_000)), { name: 'ExtractionError' })
  await t.rejects(
    read('txt', 'A line of words.\n'.repeat(2000), { maxChunks: 10 }),
    fails(/more text than 10 passages/),
  )
})

t.test('the process is gone when its signal aborts or its chunks can’t be kept', async (t) => {
  const text = new Uint8Array(Buffer.from('# A\n\nSome words.\n\n'.repeat(5000)))
  const lost = new Error('database away')
  const keep = async () => {
    throw lost
  }
  await t.rejects(extractChunks('md', text.slice(), keep, nobody), lost)
  const stop = new AbortController()
  const reading = extractChunks('md', text.slice(), async () => stop.abort(new Error('stopped')), {
    ...nobody,
    signal: stop.signal,
  })
  await t.rejects(reading, new Error('stopped'))
})

t.test('Markdown is read in time that grows with its length', async (t) => {
  const hostile = [
    `# x${'\t'.repeat(100_000)}y`,
    '['.repeat(200_000),
    '[]('.repeat(100_000),
    `${'**a'.repeat(50_000)}`,
    `|${' '.repeat(100_000)}x`,
    `${'`'.repeat(99_999)}`,
  ].join('\n\n')
  const before = process.cpuUsage()
  t.ok((await read('md', hostile)).length > 0)
  const { user } = process.cpuUsage(before)
  t.ok(user < 30_000_000, `${user} µs`)
  t.same(await read('md', '# A # title ##\n\n![photo](a.png) of [the [old] shop](b "x") and [ours](c) [x]'), [
    'A # title:\nphoto of [the [old] shop](b "x") and ours [x]',
  ])
})

t.test('text of every format is clean, whatever its escapes say', async (t) => {
  const json = JSON.stringify({ 'k\0': ['lone \ud83d', '\udc4d\ud83d', 'nul \0 end'] })
  const html = '<p>lone &#xD83D; low &#xDC4D; nul &#0; end</p>'
  const csv = `name,note\nAda,a\0b${'x'.repeat(400)}\n`
  const found = await Promise.all([read('json', json), read('html', html), read('csv', csv)])
  for (const text of found.flat()) t.ok(text.isWellFormed() && !text.includes('\0'), JSON.stringify(text))
  const faces = '😀'.repeat(30_000)
  for (const text of await read('txt', `x${faces}`)) t.notMatch(text, '\ufffd', 'no pair is parted')
})

t.test('the processes together may take a quarter of the memory, fewer of them where there is little', async (t) => {
  const MIB = 1024 * 1024
  const bounds = [512, 1_024, 2_048, 3_000, 4_096, 8_192, 16_384, 262_144].map((mib) => [mib, memoryBounds(mib * MIB)])
  t.same(bounds, [
    [512, { threads: 1, memoryBytes: 64 * MIB }],
    [1_024, { threads: 1, memoryBytes: 128 * MIB }],
    [2_048, { threads: 1, memoryBytes: 256 * MIB }],
    [3_000, { threads: 1, memoryBytes: 375 * MIB }],
    [4_096, { threads: 1, memoryBytes: 512 * MIB }],
    [8_192, { threads: 2, memoryBytes: 512 * MIB }],
    [16_384, { threads: 4, memoryBytes: 512 * MIB }],
    [262_144, { threads: 4, memoryBytes: 512 * MIB }],
  ])
  t.same(memoryBounds(128 * MIB), { threads: 1, memoryBytes: 64 * MIB }, 'one can always be read')
  const pdf = makePdf([[[11, 'It is free.']]])
  t.ok((await read('pdf', pdf, { memoryBytes: memoryBounds(512 * MIB).memoryBytes })).length > 0)
})

t.test('files wait for a process where all may work that the memory allows', async (t) => {
  const task = extractionTask(memoryBounds(512 * 1024 * 1024).threads)
  t.teardown(() => offload.close(task))
  let reading = 0
  let most = 0
  const readOne = async (): Promise<number> =>
    extractChunks(
      'txt',
      new Uint8Array(Buffer.from('A line of words.\n')),
      async () => {
        most = Math.max(most, ++reading)
        await new Promise((resolve) => setTimeout(resolve, 100))
        reading--
      },
      { ...nobody, task },
    )
  t.same(await Promise.all([readOne(), readOne(), readOne()]), [1, 1, 1])
  t.equal(most, 1, 'one after the other')
  const gone = new AbortController()
  const first = readOne()
  const waits = extractChunks('txt', new Uint8Array(1), async () => {}, { ...nobody, task, signal: gone.signal })
  gone.abort(new Error('deleted'))
  await t.rejects(waits, { message: 'deleted' }, 'one that waits can be given up')
  await first
})
