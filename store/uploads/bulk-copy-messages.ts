import type { Client } from 'pg'
import type { ErrorCode } from '../../runtime/lib/errors.ts'

/** What store/uploads/bulk-copy.ts and its processes say to one another. The processes load nothing else of it. */

/**
 * What runs in the process between BEGIN and COMMIT: it reads the source to its end and returns what is left to do once the
 * rest of the request is known. Parameters, details and result are structured-cloneable.
 */
export type Loader<P = unknown, D = unknown, R = unknown> = (
  client: Client,
  params: P,
  source: AsyncIterable<Uint8Array>,
) => Promise<(details: D) => Promise<R>>

/** Messages to a process; a file's pieces are sent raw. */
export type ToLoader =
  /** Modules of loaders that it is likely to need. */
  { type: 'prepare'; loaders: string[] } | BulkCopyWork | { type: 'end' } | { type: 'commit'; details: unknown }

export interface BulkCopyWork {
  type: 'begin'
  databaseUrl: string
  loader: string
  params: unknown
}

export type FromLoader =
  | { type: 'loaded' }
  | { type: 'done'; result: unknown }
  /** `broken`: with its connection, so that the work may not be quite at its end. */
  | { type: 'failed'; code: ErrorCode; message: string; stack: string | undefined; broken: boolean }
