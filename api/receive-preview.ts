import { PatchbayError } from '../runtime/errors.ts'
import { openBulkCopy } from '../store/bulk-copy.ts'
import type { Tenant } from '../store/tenant.ts'
import type { ReceiveFile, UploadedForm } from './multipart.ts'

/**
 * Reads an uploaded file with a loader that keeps nothing, in the thread and through the gates of every upload. The loader's
 * parameters are asked for once the form is whole.
 */
export async function receivePreview<Fields, Params, Result>(
  request: { tenant: Tenant; signal: AbortSignal; form(receive: ReceiveFile): Promise<UploadedForm<Fields>> },
  { databaseUrl, loader, field }: { databaseUrl: string; loader: URL; field: string },
  paramsOf: (fields: Fields) => Params,
): Promise<{ filename: string; result: Result }> {
  const { tenant, signal } = request
  const { workspaceId } = tenant
  const copy = await openBulkCopy<Params, null, Result>({ databaseUrl, workspaceId, loader, signal })
  try {
    let filename: string | undefined
    const { fields } = await request.form(async (part) => {
      if (part.field !== field) return
      if (filename !== undefined) throw new PatchbayError('malformed_body', { cause: new Error('More than one file') })
      filename = baseName(part.filename)
      await copy.feed(part.content)
    })
    return { filename: filename ?? '', result: await copy.commit(paramsOf(fields), null) }
  } finally {
    await copy.discard()
  }
}

/** Without the folders that some browsers send. */
export function baseName(filename: string): string {
  return (filename.split(/[\\/]/).pop() ?? '').replaceAll('\0', '').toWellFormed().slice(0, 255)
}
