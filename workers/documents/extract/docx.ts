import mammoth from 'mammoth'
import { type Block, documentText } from '../../../runtime/knowledge/blocks.ts'
import { ExtractionError } from './extraction-error.ts'
import { htmlBlocks } from './html.ts'
import { checkZip } from './zip.ts'

/** Unpacked size at which a Word file stops being believable; its media are never unpacked, but count. */
const MAX_UNPACKED_BYTES = 256 * 1024 * 1024

export async function* docxBlocks(bytes: Uint8Array): AsyncGenerator<Block> {
  checkZip(bytes, MAX_UNPACKED_BYTES)
  let html: string
  try {
    const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
    const ignoreImages = mammoth.images.imgElement(async () => ({ src: '' }))
    html = (await mammoth.convertToHtml({ buffer }, { convertImage: ignoreImages })).value
  } catch (cause) {
    throw new ExtractionError('The Word document is damaged or not a .docx file', { cause })
  }
  yield* htmlBlocks(documentText(html))
}
