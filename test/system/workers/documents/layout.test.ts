import { chromium } from 'playwright-core'
import t from 'tap'
import type { DocumentFormat } from '../../../../runtime/knowledge/blocks.ts'
import { DEFAULT_LIMITS, extractChunks } from '../../../../workers/documents/extract/run.ts'
import { CHROMIUM, withoutBrowser } from '../../../support/browser/browser.ts'
import { docxParagraph, docxTable, makeDocx, makePlacedPdf } from '../../../support/world/documents.ts'

/** The text of a file's passages, read in a process as the job does it. */
async function read(format: DocumentFormat, bytes: Uint8Array<ArrayBuffer>): Promise<string> {
  const texts: string[] = []
  const keep = async (chunks: { text: string }[]) => {
    texts.push(...chunks.map(({ text }) => text))
  }
  const options = { workspaceId: 'nobody', signal: new AbortController().signal, limits: DEFAULT_LIMITS }
  await extractChunks(format, bytes, keep, options)
  return texts.join('\n---\n')
}

const LEFT = [
  'Guests may arrive from three in the',
  'afternoon and leave by eleven. Who',
  'comes late rings the bell beside the',
  'green door and waits for the porter.',
]
const RIGHT = [
  'Dogs are welcome in the garden and',
  'in the bar, never in the dining',
  'room. A basket costs five euros a',
  'night and is found at the desk.',
]
const WIDE = 'This line reaches over the whole page, from its left edge to its right one, as before.'

t.test('columns of a PDF are read one after the other, though the page draws them line by line', async (t) => {
  const columns = LEFT.flatMap((text, i) => [
    { x: 72, y: 700 - i * 14, text },
    { x: 330, y: 700 - i * 14, text: RIGHT[i] ?? '' },
  ])
  const page = [{ x: 72, y: 750, size: 20, text: 'Rules' }, ...columns, { x: 72, y: 620, text: WIDE }]
  t.equal(await read('pdf', makePlacedPdf([page])), `Rules:\n${LEFT.join(' ')}\n\n${RIGHT.join(' ')}\n\n${WIDE}`)
  const three = [0, 1, 2, 3].flatMap((i) =>
    [LEFT, RIGHT, LEFT.toReversed()].map((texts, column) => ({
      x: 40 + column * 180,
      y: 700 - i * 13,
      size: 9,
      text: (texts[i] ?? '').slice(0, 28).trim(),
    })),
  )
  const short = (texts: string[]) => texts.map((text) => text.slice(0, 28).trim()).join(' ')
  t.equal(await read('pdf', makePlacedPdf([three])), [LEFT, RIGHT, LEFT.toReversed()].map(short).join('\n\n'))
})

t.test('rows of a table in a PDF stay whole, under the names of their columns where these are set apart', async (t) => {
  const rows = (isBold: boolean) =>
    [
      ['Room', 'Summer', 'Winter'],
      ['Single with a view', '$80', '$60'],
      ['Double', '$120', '$90'],
      ['Suite', '$300', '$250'],
    ].flatMap((cells, row) =>
      cells.map((text, i) => ({ x: 72 + i * 150, y: 700 - row * 16, text, isBold: isBold && row === 0 })),
    )
  const after = { x: 72, y: 600, text: 'Breakfast is $12.' }
  t.equal(
    await read('pdf', makePlacedPdf([[...rows(true), after]])),
    'Room: Single with a view; Summer: $80; Winter: $60\nRoom: Double; Summer: $120; Winter: $90\nRoom: Suite; Summer: $300; Winter: $250\n\nBreakfast is $12.',
  )
  t.equal(
    await read('pdf', makePlacedPdf([[...rows(false), after]])),
    'Room | Summer | Winter\nSingle with a view | $80 | $60\nDouble | $120 | $90\nSuite | $300 | $250\n\nBreakfast is $12.',
  )
})

t.test(
  'a PDF that a browser prints is read in its order, also from right to left',
  { skip: withoutBrowser },
  async (t) => {
    const browser = await chromium.launch({
      executablePath: CHROMIUM,
      args: ['--no-sandbox', '--disable-dev-shm-usage'],
    })
    t.teardown(() => browser.close())
    const page = await browser.newPage()
    await page.setContent(`<div style="column-count: 2; height: 90px"><p>${[...LEFT, ...RIGHT].join(' ')}</p></div>
    <table style="width: 100%"><tr><th>Room</th><th>Price</th></tr><tr><td>Single</td><td>$80</td></tr><tr><td>Double</td><td>$120</td></tr></table>
    <div dir="rtl" lang="he" style="font-family: DejaVu Sans, Liberation Sans, sans-serif; margin-top: 60px">
      אנחנו פותחים בשעה 9:30 וסוגרים בשעה 18:00 ביום ראשון.<br>המחיר לפי New York Times של 2026.</div>`)
    const text = (await read('pdf', new Uint8Array(await page.pdf({ format: 'A4' })))).replace(/\s+/g, ' ')
    t.match(text, `${LEFT.join(' ')} ${RIGHT.join(' ')}`)
    t.match(text, 'Room: Single; Price: $80 Room: Double; Price: $120')
    t.match(text, 'אנחנו פותחים בשעה 9:30 וסוגרים בשעה 18:00 ביום ראשון. המחיר לפי New York Times של 2026.')
  },
)

const WORD = 'http://schemas.openxmlformats.org/wordprocessingml/2006/main'
const PACKAGE = 'http://schemas.openxmlformats.org/package/2006/relationships'
const field = (instruction: string) =>
  `<w:r><w:fldChar w:fldCharType="begin"/></w:r><w:r><w:instrText xml:space="preserve"> ${instruction} </w:instrText></w:r><w:r><w:fldChar w:fldCharType="separate"/></w:r><w:r><w:t>7</w:t></w:r><w:r><w:fldChar w:fldCharType="end"/></w:r>`

t.test(
  'headers and footers of a Word document stand once before and behind its text, without numbers of pages',
  async (t) => {
    const header = (text: string) =>
      `<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n<w:hdr xmlns:w="${WORD}" xmlns:wp="x"><w:p><w:r><w:t>${text}</w:t></w:r><wp:inline/></w:p></w:hdr>`
    const parts = {
      '_rels/document.xml.rels': `<Relationships xmlns="${PACKAGE}">${[
        'header1',
        'header2',
        'header3',
        'footer1',
        'footer2',
      ]
        .map((name) => `<Relationship Id="${name}" Type="any" Target="${name}.xml"/>`)
        .join('')}</Relationships>`,
      'header1.xml': header('Price list valid from March'),
      'header2.xml': header('Price list valid from March'),
      'header3.xml': header('Never shown'),
      'footer1.xml': `<w:ftr xmlns:w="${WORD}"><w:p><w:r><w:t xml:space="preserve">Calls to 030 1234 </w:t></w:r>${field('PAGE')}</w:p></w:ftr>`,
      'footer2.xml': `<w:ftr xmlns:w="${WORD}"><w:p>${field('PAGE \\* MERGEFORMAT')}</w:p></w:ftr>`,
    }
    const references = ['header1', 'header2', 'footer1', 'footer2']
      .map((name) => `<w:${name.slice(0, 6)}Reference w:type="default" r:id="${name}"/>`)
      .join('')
    const body = `${docxParagraph('A visit is 20 euros.')}<w:sectPr>${references}</w:sectPr>`
    t.equal(
      await read('docx', makeDocx(body, undefined, parts)),
      'Price list valid from March\n\nA visit is 20 euros.\n\nCalls to 030 1234',
    )
  },
)

t.test('what a style of a Word document hides is left out, and what its text takes back is not', async (t) => {
  const style = (id: string, properties: string) =>
    `<w:style w:type="paragraph" w:styleId="${id}"><w:rPr>${properties}</w:rPr></w:style>`
  const parts = {
    'styles.xml': `<w:styles xmlns:w="${WORD}">${style('Secret', '<w:vanish/>')}${style('Seen', '<w:b/>')}</w:styles>`,
  }
  const run = (properties: string, text: string) =>
    `<w:p><w:r><w:rPr>${properties}</w:rPr><w:t>${text}</w:t></w:r></w:p>`
  const body = [
    docxParagraph('We open at nine.', 'Seen'),
    docxParagraph('The margin is 40 %.', 'Secret'),
    run('<w:rStyle w:val="Secret"/>', 'The discount is 10 %.'),
    run('<w:rStyle w:val="Secret"/><w:vanish w:val="0"/>', 'We close at six.'),
  ]
  t.equal(await read('docx', makeDocx(body.join(''), undefined, parts)), 'We open at nine.\n\nWe close at six.')
})

t.test(
  'each passage of a long table of Word names its columns, whichever way its first row is set apart',
  async (t) => {
    const rows = Array.from({ length: 200 }, (_, i) => [`Room ${i}`, `${80 + i}`])
    const bold = (text: string) => `<w:tc><w:p><w:r><w:rPr><w:b/></w:rPr><w:t>${text}</w:t></w:r></w:p></w:tc>`
    const table = docxTable([['Name', 'Price'], ...rows])
    const parts = {
      'styles.xml': `<w:styles xmlns:w="${WORD}"><w:style w:type="table" w:styleId="Grid"><w:tblStylePr w:type="firstRow"><w:rPr><w:b/></w:rPr></w:tblStylePr></w:style></w:styles>`,
    }
    const styled = (look: string) =>
      table.replace('<w:tbl>', `<w:tbl><w:tblPr><w:tblStyle w:val="Grid"/><w:tblLook ${look}/></w:tblPr>`)
    const ways = {
      'marked as a head': table.replace('<w:tr>', '<w:tr><w:trPr><w:tblHeader/></w:trPr>'),
      'in bold': table.replace(/<w:tr>.*?<\/w:tr>/, `<w:tr>${bold('Name')}${bold('Price')}</w:tr>`),
      'by the style of its table': styled('w:firstRow="1"'),
      'by the style of its table, as older files say it': styled('w:val="04A0"'),
    }
    for (const [way, body] of Object.entries(ways)) {
      const passages = (await read('docx', makeDocx(body, undefined, parts))).split('\n---\n')
      t.ok(passages.length > 5, way)
      for (const passage of passages) t.match(passage, /^Name: Room \d+; Price: \d+\n/, way)
    }
    const plain = await read('docx', makeDocx(styled('w:firstRow="0"'), undefined, parts))
    t.match(plain, /^Name \| Price\nRoom 0 \| 80\n/)
  },
)
