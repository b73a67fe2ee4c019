import t from 'tap'
import { documentFormat } from '../../../runtime/knowledge/blocks.ts'
import { searchBm25 } from '../../../runtime/knowledge/bm25.ts'
import { decodeSegment, encodeSegment } from '../../../runtime/knowledge/segment.ts'
import { termsOf } from '../../../runtime/knowledge/terms.ts'
import { csvBlocks } from '../../../workers/documents/extract/csv.ts'
import { decodeText } from '../../../workers/documents/extract/encoding.ts'
import { decodeHtml, htmlBlocks } from '../../../workers/documents/extract/html.ts'
import { jsonBlocks } from '../../../workers/documents/extract/json.ts'
import { markdownBlocks, plainBlocks } from '../../../workers/documents/extract/text.ts'
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
