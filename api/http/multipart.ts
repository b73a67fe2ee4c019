import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import busboy from '@fastify/busboy'
import { boundary } from '../../runtime/lib/async/boundary.ts'
import { joinSignals } from '../../runtime/lib/async/join-signals.ts'
import { PatchbayError } from '../../runtime/lib/errors.ts'
import type { RequestBody } from './body.ts'

/** Multipart bodies as streams: nothing of a file is kept here. */

const MAX_FIELD_BYTES = 64 * 1024
const MAX_FIELDS = 100
const MAX_FILES = 100

export interface UploadedFile {
  field: string
  filename: string
  contentType: string
  /** The bytes as they arrive. Ends with `file_too_large` beyond the limit: the consumer removes what it stored of it. */
  content: AsyncIterable<Buffer>
}

/** Consumes one file. Files come one after the other; the next part waits for the promise. */
export type ReceiveFile = (file: UploadedFile) => Promise<void>

export interface UploadedForm<Fields> {
  fields: Fields
  /** Text fields the route doesn't name. */
  others: Readonly<Record<string, string>>
  /** Number of files received by field name. */
  files: Readonly<Record<string, number>>
}

/**
 * Reads a multipart/form-data body. Fields that come after a file are seen after it. Throws `wrong_content_type`, `malformed_body`
 * for a cut-off body or too many parts, `file_too_large`, and whatever `receive` throws.
 */
export async function readMultipart(
  source: { contentType: string; body: RequestBody; signal: AbortSignal },
  limits: { maxFileBytes: number },
  receive: ReceiveFile,
): Promise<Omit<UploadedForm<Record<string, string>>, 'others'>> {
  if (!/^multipart\/form-data\s*;.*boundary=/i.test(source.contentType))
    throw new PatchbayError('wrong_content_type', { params: { type: 'multipart/form-data' } })
  const fields: Record<string, string> = Object.create(null)
  const files: Record<string, number> = Object.create(null)
  const stop = new AbortController()
  let failure: unknown
  let tail: Promise<void> = Promise.resolve()
  const unfinished = new Set<Readable>()
  const fail = (error: unknown) => {
    failure ??= error
    stop.abort()
    // A receiver that waits for more of its file must not wait for ever.
    for (const stream of unfinished) stream.destroy(new PatchbayError('malformed_body'))
  }
  const parser = openParser(source.contentType, limits.maxFileBytes)

  parser.on(
    'field',
    boundary('http', (name, value, nameCut, valueCut) => {
      if (nameCut || valueCut) fail(new PatchbayError('malformed_body'))
      else fields[name] = value
    }),
  )
  parser.on(
    'file',
    boundary('http', (field, stream, filename, _encoding, contentType) => {
      // An error that comes while no one reads yet is seen by the reader, and must not end the process.
      stream.on('error', () => {})
      unfinished.add(stream)
      stream.on(
        'close',
        boundary('http', () => unfinished.delete(stream)),
      )
      tail = tail.then(async () => {
        if (failure !== undefined) {
          stream.resume()
          return
        }
        try {
          await receive({ field, filename: filename ?? '', contentType, content: limited(stream) })
          files[field] = (files[field] ?? 0) + 1
        } catch (error) {
          fail(error)
        } finally {
          stream.resume()
        }
      })
    }),
  )
  for (const limit of ['partsLimit', 'filesLimit', 'fieldsLimit'] as const) {
    parser.on(
      limit,
      boundary('http', () => fail(new PatchbayError('malformed_body'))),
    )
  }

  try {
    await pipeline(Readable.from(source.body, { objectMode: false }), parser, {
      signal: joinSignals(source.signal, stop.signal),
    })
  } catch (error) {
    parser.destroy()
    fail(error instanceof PatchbayError ? error : new PatchbayError('malformed_body', { cause: error }))
  }
  await tail
  if (failure !== undefined) throw failure
  return { fields, files }
}

function openParser(contentType: string, maxFileBytes: number) {
  try {
    return new busboy.Busboy({
      headers: { 'content-type': contentType },
      limits: { fileSize: maxFileBytes, fieldSize: MAX_FIELD_BYTES, fields: MAX_FIELDS, files: MAX_FILES },
    })
  } catch (cause) {
    throw new PatchbayError('malformed_body', { cause })
  }
}

async function* limited(stream: Readable & { truncated?: boolean }): AsyncGenerator<Buffer> {
  try {
    for await (const chunk of stream) {
      yield chunk as Buffer
      if (stream.truncated) throw new PatchbayError('file_too_large')
    }
  } catch (cause) {
    throw cause instanceof PatchbayError ? cause : new PatchbayError('malformed_body', { cause })
  }
  if (stream.truncated) throw new PatchbayError('file_too_large')
}
