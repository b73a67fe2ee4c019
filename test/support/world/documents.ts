import { crc32, deflateRawSync } from 'node:zlib'

/** Files as the programs of offices make them, small enough to read here. */

/** A zip archive. `claimedBytes` writes another unpacked size than the true one. */
export function makeZip(entries: Record<string, string | Buffer>, claimedBytes?: number): Uint8Array<ArrayBuffer> {
  const locals: Buffer[] = []
  const directory: Buffer[] = []
  let offset = 0
  for (const [name, content] of Object.entries(entries)) {
    const data = Buffer.from(content)
    const packed = deflateRawSync(data)
    const fields = Buffer.alloc(26)
    fields.writeUInt16LE(20, 0)
    fields.writeUInt16LE(8, 4)
    fields.writeUInt32LE(crc32(data), 10)
    fields.writeUInt32LE(packed.length, 14)
    fields.writeUInt32LE(claimedBytes ?? data.length, 18)
    fields.writeUInt16LE(name.length, 22)
    const local = Buffer.concat([Buffer.from('PK\x03\x04'), fields, Buffer.from(name), packed])
    const entry = Buffer.alloc(46)
    entry.write('PK\x01\x02', 0, 'latin1')
    entry.writeUInt16LE(20, 4)
    fields.copy(entry, 6)
    entry.writeUInt32LE(offset, 42)
    directory.push(Buffer.concat([entry, Buffer.from(name)]))
    locals.push(local)
    offset += local.length
  }
  const central = Buffer.concat(directory)
  const end = Buffer.alloc(22)
  end.write('PK\x05\x06', 0, 'latin1')
  end.writeUInt16LE(directory.length, 8)
  end.writeUInt16LE(directory.length, 10)
  end.writeUInt32LE(central.length, 12)
  end.writeUInt32LE(offset, 16)
  return new Uint8Array(Buffer.concat([...locals, central, end]))
}

/** A Word document with this body, in WordprocessingML, and further parts in `word/`. */
export function makeDocx(
  body: string,
  claimedBytes?: number,
  parts: Record<string, string> = {},
): Uint8Array<ArrayBuffer> {
  const types = 'http://schemas.openxmlformats.org/package/2006/content-types'
  const relations = 'http://schemas.openxmlformats.org/package/2006/relationships'
  const office = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships/officeDocument'
  const word = 'http://schemas.openxmlformats.org/wordprocessingml/2006/main'
  const mime = 'application/vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml'
  return makeZip(
    {
      '[Content_Types].xml': `<Types xmlns="${types}"><Override PartName="/word/document.xml" ContentType="${mime}"/></Types>`,
      '_rels/.rels': `<Relationships xmlns="${relations}"><Relationship Id="r1" Type="${office}" Target="word/document.xml"/></Relationships>`,
      'word/document.xml': `<w:document xmlns:w="${word}" xmlns:r="${office.replace('/officeDocument', '')}"><w:body>${body}</w:body></w:document>`,
      ...Object.fromEntries(Object.entries(parts).map(([name, content]) => [`word/${name}`, content])),
    },
    claimedBytes,
  )
}

export const docxParagraph = (text: string, style?: string): string =>
  `<w:p>${style ? `<w:pPr><w:pStyle w:val="${style}"/></w:pPr>` : ''}<w:r><w:t>${text}</w:t></w:r></w:p>`

export const docxTable = (rows: string[][]): string =>
  `<w:tbl>${rows
    .map((cells) => `<w:tr>${cells.map((cell) => `<w:tc>${docxParagraph(cell)}</w:tc>`).join('')}</w:tr>`)
    .join('')}</w:tbl>`

/** A PDF of one page for each list of lines; a line is its size in points and its text. */
export function makePdf(pages: [size: number, text: string][][]): Uint8Array<ArrayBuffer> {
  return makePlacedPdf(
    pages.map((lines) => {
      let y = 760
      return lines.map(([size, text]) => {
        y -= size * 1.3
        return { x: 72, y, size, text }
      })
    }),
  )
}

export interface PlacedText {
  /** In points, from the left and lower edge of the page. */
  x: number
  y: number
  text: string
  size?: number
  isBold?: boolean
}

/** A PDF whose pages draw these texts, in this order. */
export function makePlacedPdf(pages: readonly (readonly PlacedText[])[]): Uint8Array<ArrayBuffer> {
  const objects: string[] = [
    '<< /Type /Catalog /Pages 2 0 R >>',
    '',
    '<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>',
    '<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica-Bold >>',
  ]
  const kids: string[] = []
  for (const texts of pages) {
    const commands = texts.map(
      ({ x, y, text, size = 11, isBold = false }) =>
        `BT /F${isBold ? 2 : 1} ${size} Tf ${x} ${y.toFixed(1)} Td (${text.replace(/[()\\]/g, '\\$&')}) Tj ET`,
    )
    const stream = commands.join('\n')
    const page = objects.length + 1
    kids.push(`${page} 0 R`)
    objects.push(
      `<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents ${page + 1} 0 R /Resources << /Font << /F1 3 0 R /F2 4 0 R >> >> >>`,
      `<< /Length ${stream.length} >>\nstream\n${stream}\nendstream`,
    )
  }
  objects[1] = `<< /Type /Pages /Kids [${kids.join(' ')}] /Count ${kids.length} >>`
  let text = '%PDF-1.4\n'
  const offsets = objects.map((object, i) => {
    const at = text.length
    text += `${i + 1} 0 obj\n${object}\nendobj\n`
    return at
  })
  const table = offsets.map((at) => `${String(at).padStart(10, '0')} 00000 n \n`).join('')
  text += `xref\n0 ${objects.length + 1}\n0000000000 65535 f \n${table}trailer\n<< /Size ${objects.length + 1} /Root 1 0 R >>\nstartxref\n${text.length}\n%%EOF`
  return new Uint8Array(Buffer.from(text, 'latin1'))
}

interface WorkbookParts {
  /** In SpreadsheetML: what stands in `<sheetData>`. */
  rows: string
  /** Texts that cells of type `s` name by their number, in SpreadsheetML. */
  texts?: readonly string[]
  /** Codes of formats that the styles from 1 on have. */
  formats?: readonly string[]
  /** What stands in `<workbook>` before the sheets. */
  properties?: string
  /** Sheets before this one, hidden. */
  isBehindHidden?: boolean
}

/** An .xlsx file with one sheet that can be seen. */
export function makeWorkbook(parts: WorkbookParts): Uint8Array<ArrayBuffer> {
  const { rows, texts = [], formats = [], properties = '', isBehindHidden = false } = parts
  const main = 'http://schemas.openxmlformats.org/spreadsheetml/2006/main'
  const package_ = 'http://schemas.openxmlformats.org/package/2006'
  const office = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships'
  const relations = (...list: [id: string, type: string, target: string][]) =>
    `<Relationships xmlns="${package_}/relationships">${list
      .map(([id, type, target]) => `<Relationship Id="${id}" Type="${office}/${type}" Target="${target}"/>`)
      .join('')}</Relationships>`
  const sheet = (data: string) => `<worksheet xmlns="${main}"><sheetData>${data}</sheetData></worksheet>`
  const numFmts = formats.map((code, at) => `<numFmt numFmtId="${164 + at}" formatCode="${code}"/>`).join('')
  const xfs = formats.map((_, at) => `<xf numFmtId="${164 + at}" applyNumberFormat="1"/>`).join('')
  const hidden = isBehindHidden ? '<sheet name="Lists" sheetId="2" state="hidden" r:id="rId4"/>' : ''
  return makeZip({
    '[Content_Types].xml': `<Types xmlns="${package_}/content-types"/>`,
    '_rels/.rels': relations(['rId1', 'officeDocument', 'xl/workbook.xml']),
    'xl/_rels/workbook.xml.rels': relations(
      ['rId1', 'worksheet', 'worksheets/sheet1.xml'],
      ['rId2', 'sharedStrings', '/xl/sharedStrings.xml'],
      ['rId3', 'styles', 'styles.xml'],
      ['rId4', 'worksheet', 'worksheets/sheet2.xml'],
    ),
    'xl/workbook.xml': `<?xml version="1.0" encoding="UTF-8"?><workbook xmlns="${main}" xmlns:r="${office}">${properties}<sheets>${hidden}<sheet name="People" sheetId="1" r:id="rId1"/></sheets></workbook>`,
    'xl/sharedStrings.xml': `<sst xmlns="${main}">${texts.map((text) => `<si>${text}</si>`).join('')}</sst>`,
    'xl/styles.xml': `<styleSheet xmlns="${main}"><numFmts>${numFmts}</numFmts><cellStyleXfs><xf numFmtId="14"/></cellStyleXfs><cellXfs><xf numFmtId="0"/>${xfs}</cellXfs></styleSheet>`,
    'xl/worksheets/sheet1.xml': sheet(rows),
    'xl/worksheets/sheet2.xml': sheet('<row r="1"><c r="A1" t="inlineStr"><is><t>hidden</t></is></c></row>'),
  })
}

/** A workbook of these texts, each in its cell. */
export function workbookOf(records: readonly (readonly string[])[]): Uint8Array<ArrayBuffer> {
  const escaped = (text: string) => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;')
  const cell = (text: string) => `<c t="inlineStr"><is><t>${escaped(text)}</t></is></c>`
  return makeWorkbook({ rows: records.map((cells) => `<row>${cells.map(cell).join('')}</row>`).join('') })
}
