import { type Block, type DocumentFormat, documentText } from '../../../runtime/knowledge/blocks.ts'
import { decodeText } from './encoding.ts'

/**
 * The text of a file as blocks. What reads a format is loaded for it alone: it is much of what a short file costs.
 * @throws ExtractionError in words for the person who uploaded it.
 */
export async function extract(
  format: DocumentFormat,
  bytes: Uint8Array,
): Promise<Iterable<Block> | AsyncIterable<Block>> {
  switch (format) {
    case 'txt':
      return (await import('./text.ts')).plainBlocks(documentText(decodeText(bytes)))
    case 'md':
      return (await import('./text.ts')).markdownBlocks(documentText(decodeText(bytes)))
    case 'csv':
      return (await import('./csv.ts')).csvBlocks(documentText(decodeText(bytes)))
    case 'json':
      return (await import('./json.ts')).jsonBlocks(documentText(decodeText(bytes)))
    case 'html': {
      const { decodeHtml, htmlBlocks } = await import('./html.ts')
      return htmlBlocks(decodeHtml(bytes))
    }
    case 'pdf':
      return (await import('./pdf.ts')).pdfBlocks(bytes)
    case 'docx':
      return (await import('./docx.ts')).docxBlocks(bytes)
  }
}
