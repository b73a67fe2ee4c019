import t from 'tap'
import { documentFormat } from '../../../runtime/knowledge/blocks.ts'
import { searchBm25 } from '../../../runtime/knowledge/bm25.ts'
import { decodeSegment, encodeSegment } from '../../../runtime/knowledge/segment.ts'
import { termsOf } from '../../../runtime/knowledge/terms.ts'
import { csvBlocks } from '../../../workers/documents/extract/csv.ts'
import { decodeText } from '../../../workers/documents/extract/encoding.ts'
import { decodeHtml, htmlBlocks } from '../../../workers/documents/extract/html.ts'
import { jsonBlocks } from '../../../workers/documents/extract/json.ts'
import { marginTexts } from '../../../workers/documents/extract/margin-texts.ts'
import { readingOrder } from '../../../workers/documents/extract/reading-order.ts'
import { markdownBlocks, plainBlocks } from '../../../workers/documents/extract/text.ts'
import { withHeads } from '../../../workers/documents/extract/with-heads.ts'
import { hiddenStyles, withoutHidden } from '../../../workers/documents/extract/without-hidden.ts'
import { growsWithItsInput } from '../../support/source/growth.ts'

/**
 * Documents are read in threads, which are ended where they take too long: a small file that takes all of that time is a queue that
 * stands. PDF and DOCX files are left out here: what repeats in them is compressed, and their readers are packages of others.
 */

t.test('blocks', async (t) => {
  await growsWithItsInput(t, 'plainBlocks', (text) => [...plainBlocks(text)], { tokens: ['\n\n', '\n ', ' \n'] })
  await growsWithItsInput(t, 'markdownBlocks', (text) => [...markdownBlocks(text)], {
    tokens: ['# ', '#', '**', '__', '`', '```\n', '[', '](', '[a](b)', '| ', '|', '---', '\n', '---\n', '!['],
  })
  const html = { tokens: ['<', '<a>', '<p>', '</p>', '<table><tr><td>', '<!--', '&amp;', '&#', '<a href="', '<b '] }
  await growsWithItsInput(t, 'htmlBlocks', (text) => [...htmlBlocks(text)], { ...html, most: 2_048 })
  await growsWithItsInput(t, 'decodeHtml', (text) => decodeHtml(Buffer.from(text)), {
    tokens: ['<meta ', '<meta charset=', 'charset=', '"'],
  })
  await growsWithItsInput(t, 'decodeText', (text) => decodeText(Buffer.from(text, 'latin1')), {
    tokens: ['\xff', '\0'],
  })
  await growsWithItsInput(t, 'csvBlocks', (text) => [...csvBlocks(text)], {
    tokens: ['"', '""', ',', '\n', '"\n', ' "'],
  })
  await growsWithItsInput(t, 'jsonBlocks', (text) => [...jsonBlocks(text)], { tokens: ['[', '"', '\\', '{"a":'] })
  const records = (text: string) => [...jsonBlocks(JSON.stringify([{ a: text, [text]: [text] }, text]))]
  await growsWithItsInput(t, 'records of JSON', records)
  await growsWithItsInput(t, 'documentFormat', (text) => documentFormat(text, text), { tokens: ['.', '/', ';'] })
})

t.test('search', async (t) => {
  const small = { tokens: ['中'], most: 2_048 }
  const different = (text: string) => [...text].map((letter, at) => `${letter}${at}`).join(' ')
  const segment = decodeSegment(encodeSegment([{ chunk: 0, terms: termsOf('we open at nine') }]))
  await growsWithItsInput(t, 'a question', (text) => searchBm25([segment], termsOf(different(text)), 10), small)
  await growsWithItsInput(
    t,
    'a segment',
    (text) => decodeSegment(encodeSegment([{ chunk: 0, terms: termsOf(different(text)) }])),
    small,
  )
})

t.test('places and styles', async (t) => {
  const tables = [
    '<w:tbl><w:tblPr>',
    '<w:tr>',
    '<w:tblPr>',
    '<w:r>',
    '<w:rPr>',
    '<w:p>',
    '<w:fldChar w:fldCharType="begin"',
  ]
  const styles = new Set(['Grid'])
  await growsWithItsInput(t, 'withHeads', (text) => withHeads(text, styles), { tokens: tables })
  await growsWithItsInput(t, 'withoutHidden', (text) => withoutHidden(text, styles), { tokens: tables })
  await growsWithItsInput(t, 'hiddenStyles', (text) => hiddenStyles(text), {
    tokens: ['<w:style ', '<w:style w:styleId="'],
  })
  const header = (text: string) => `<w:hdr>${text}</w:hdr>`
  const body = '<w:headerReference r:id="a"/>'
  const relation = '<Relationship Id="a" Target="header.xml"/>'
  const tokens = [...tables, '<w:instrText> PAGE ', '<w:fldSimple w:instr="PAGE">', '<a:blip ', '<?xml ']
  await growsWithItsInput(t, 'marginTexts', (text) => marginTexts(body, relation, () => header(text)), { tokens })
  await growsWithItsInput(t, 'readingOrder', (text) =>
    readingOrder(
      text
        .match(/.{1,8}/gsu)
        ?.map((words, row) =>
          [...words].map((letter, i) => ({ text: letter, x: i * 40, y: -row, width: 9, height: 9, font: 'a' })),
        ) ?? [],
    ),
  )
})
