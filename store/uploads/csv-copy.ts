import { pipeline } from 'node:stream/promises'
import type { Client } from 'pg'
import { from as copyFrom } from 'pg-copy-streams'

/** How every upload gets into Postgres: its file is read once, piece by piece, and its rows are copied as they come. */

/** Smaller texts wait for more: each write to the connection has its price. */
const PIECE_CHARS = 64 * 1024

/** A text as a column of COPY's text format (postgresql.org/docs/18/sql-copy.html). */
export function copyText(text: string): string {
  return /[\\\n\r\t]/.test(text)
    ? text.replaceAll('\\', '\\\\').replaceAll('\n', '\\n').replaceAll('\r', '\\r').replaceAll('\t', '\\t')
    : text
}

/**
 * Copies rows in COPY's text format, each with its line end; a text may hold many of them, or a part of one.
 * @param into `table (column, …)`
 */
export async function copyInto(
  client: Client,
  into: string,
  rows: Iterable<string> | AsyncIterable<string>,
): Promise<void> {
  await pipeline(inPieces(rows), client.query(copyFrom(`copy ${into} from stdin`)))
}

async function* inPieces(rows: Iterable<string> | AsyncIterable<string>): AsyncGenerator<string> {
  let piece = ''
  for await (const text of rows) {
    piece += text
    if (piece.length < PIECE_CHARS) continue
    yield piece
    piece = ''
  }
  if (piece !== '') yield piece
}
