import { PatchbayError } from '../../runtime/lib/errors.ts'
import { cleanText } from '../../runtime/lib/text.ts'
import type { ReceiveFile, UploadedForm } from './multipart.ts'

const MAX_NAME_CHARS = 255

/**
 * Reads a form of which one file is wanted; others are passed over. `feed` takes its bytes as they come. Throws
 * `malformed_body` where there are several of it, and what `feed` throws.
 */
export async function receiveOneFile<Fields>(
  request: { form(receive: ReceiveFile): Promise<Pick<UploadedForm<Fields>, 'fields'>> },
  field: string,
  feed: (content: AsyncIterable<Buffer>) => Promise<void>,
): Promise<{ fields: Fields; filename: string }> {
  let filename: string | undefined
  const { fields } = await request.form(async (part) => {
    if (part.field !== field) return
    if (filename !== undefined) throw new PatchbayError('malformed_body', { cause: new Error('More than one file') })
    filename = baseName(part.filename)
    await feed(part.content)
  })
  return { fields, filename: filename ?? '' }
}

/** Without the folders that some browsers send. */
function baseName(filename: string): string {
  return cleanText(filename.split(/[\\/]/).pop() ?? '', MAX_NAME_CHARS)
}
