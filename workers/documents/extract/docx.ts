import mammoth from 'mammoth'
import { type Block, documentText } from '../../../runtime/knowledge/blocks.ts'
import { checkZip, ZipError } from '../../../runtime/lib/zip.ts'
import { ExtractionError } from './extraction-error.ts'
import { htmlBlocks } from './html.ts'
import { seenWordFile } from './seen-word-file.ts'

/** Unpacked size at which a Word file stops being believable; its media are never unpacked, but count. */
const MAX_UNPACKED_BYTES = 256 * 1024 * 1024

export async function* docxBlocks(bytes: Uint8Array): AsyncGenerator<Block> {
  let html: string
  try {
    checkZip(bytes, MAX_UNPACKED_BYTES)
    const seen = seenWordFile(bytes, MAX_UNPACKED_BYTES)
    const buffer = Buffer.from(seen.buffer, seen.byteOffset, seen.byteLength)
    const ignoreImages = mammoth.images.imgElement(async () => ({ src: '' }))
    html = (await mammoth.convertToHtml({ buffer }, { convertImage: ignoreImages })).value
  } catch (cause) {
    if (cause instanceof ZipError && cause.isTooLarge) throw new ExtractionError(cause.message, { cause })
    throw new ExtractionError('The Word document is damaged or not a .docx file', { cause })
  }
  yield* htmlBlocks(documentText(html))
}
