import type { Client } from 'pg'
import type { ErrorCode } from '../runtime/errors.ts'

/** What store/bulk-copy.ts and its threads say to one another. The threads load nothing else of it. */

/**
 * What runs in the thread between BEGIN and COMMIT: it reads the source to its end and returns what is left to do once the
 * rest of the request is known. Parameters, details and result are structured-cloneable.
 */
export type Loader<P = unknown, D = unknown, R = unknown> = (
  client: Client,
  params: P,
  source: AsyncIterable<Uint8Array>,
) => Promise<(details: D) => Promise<R>>

/** What a thread begins with. */
export interface BulkCopyThread {
  /** Modules of loaders that it is likely to need. */
  loaders: string[]
}

/** What a thread is to load. */
export interface BulkCopyWork {
  type: 'begin'
  /** Pieces of SLOT_BYTES: the file passes through without leaving garbage on either side. */
  slots: SharedArrayBuffer
  databaseUrl: string
  loader: string
  params: unknown
}

export type ToThread =
  | BulkCopyWork
  | { type: 'chunk'; slot: number; length: number }
  | { type: 'end' }
  | { type: 'commit'; details: unknown }

export type FromThread =
  | { type: 'taken'; slot: number }
  | { type: 'loaded' }
  | { type: 'done'; result: unknown }
  /** `broken`: with its connection, so that the work may not be quite at its end. */
  | { type: 'failed'; code: ErrorCode; message: string; stack: string | undefined; broken: boolean }

export const SLOT_BYTES = 64 * 1024
