import { createHash } from 'node:crypto'
import { sql } from 'kysely'
import pg from 'pg'

const MARK = '/* prepared */'

/**
 * At the start of a statement: each connection plans it once, however often it is asked with other values. For those that take longer to
 * plan than to carry out, and whose texts are few, for a connection keeps each until it ends.
 */
export const PREPARED = sql.raw(MARK)

const names = new Map<string, string>()

/** A connection that prepares what is marked so: Kysely's own queries have no names. */
export class PreparedClient extends pg.Client {
  // biome-ignore lint/suspicious/noExplicitAny: the overloads of the driver, handed on as they are
  override query(first: any, ...rest: any[]): any {
    if (typeof first !== 'string' || !first.startsWith(MARK)) return super.query(first, ...rest)
    return super.query({ name: nameOf(first), text: first }, ...rest)
  }
}

function nameOf(text: string): string {
  const known = names.get(text)
  if (known !== undefined) return known
  // Postgres takes 63 characters.
  const name = createHash('sha256').update(text).digest('base64url')
  names.set(text, name)
  return name
}
