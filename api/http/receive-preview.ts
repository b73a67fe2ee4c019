import type { Tenant } from '../../store/database/tenant.ts'
import { openBulkCopy } from '../../store/uploads/bulk-copy.ts'
import type { ReceiveFile, UploadedForm } from './multipart.ts'
import { receiveOneFile } from './receive-one-file.ts'

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
    const { fields, filename } = await receiveOneFile(request, field, (content) => copy.feed(content))
    return { filename, result: await copy.commit(paramsOf(fields), null) }
  } finally {
    await copy.discard()
  }
}
