import { type Block, cleanText, type DocumentFormat } from '../../../runtime/knowledge/blocks.ts'
import { csvBlocks } from './csv.ts'
import { docxBlocks } from './docx.ts'
import { decodeText } from './encoding.ts'
import { decodeHtml, htmlBlocks } from './html.ts'
import { jsonBlocks } from './json.ts'
import { pdfBlocks } from './pdf.ts'
import { markdownBlocks, plainBlocks } from './text.ts'

/** The text of a file as blocks. @throws ExtractionError in words for the person who uploaded it. */
export function extract(format: DocumentFormat, bytes: Uint8Array): Iterable<Block> | AsyncIterable<Block> {
  switch (format) {
    case 'txt':
      return plainBlocks(cleanText(decodeText(bytes)))
    case 'md':
      return markdownBlocks(cleanText(decodeText(bytes)))
    case 'csv':
      return csvBlocks(cleanText(decodeText(bytes)))
    case 'json':
      return jsonBlocks(cleanText(decodeText(bytes)))
    case 'html':
      return htmlBlocks(decodeHtml(bytes))
    case 'pdf':
      return pdfBlocks(bytes)
    case 'docx':
      return docxBlocks(bytes)
  }
}
