import type { Client } from 'pg'
import { isRefusal } from './write-rows.ts'

/**
 * Which rows the database refuses, found by halving them within the running transaction. What `write` does to the others is taken back.
 */
export async function sift<Row>(
  client: Client,
  rows: readonly Row[],
  write: (rows: readonly Row[]) => Promise<void>,
): Promise<Set<Row>> {
  const refused = new Set<Row>()
  const parts: (readonly Row[])[] = rows.length === 0 ? [] : [rows]
  for (let part = parts.pop(); part !== undefined; part = parts.pop()) {
    await client.query('savepoint sifted')
    const fault = await write(part).then(
      () => undefined,
      (error: unknown) => ({ error }),
    )
    await client.query('rollback to savepoint sifted')
    if (fault === undefined) continue
    if (!isRefusal(fault.error)) throw fault.error
    const [row] = part
    if (part.length === 1 && row !== undefined) refused.add(row)
    else {
      const middle = part.length >> 1
      parts.push(part.slice(middle), part.slice(0, middle))
    }
  }
  return refused
}
