import { type CallFilter, matching } from '../calls/calls.ts'
import type { Call } from '../database/schema.ts'
import type { Tenant } from '../database/tenant.ts'

/** Rows a query: few enough that making their text leaves the event loop to the calls in between. */
const ROWS_PER_QUERY = 500

/** The calls of a filter, newest first, a few at a time: each query begins after the last row of the one before. */
export async function* eachCall(tenant: Tenant, filter: CallFilter, signal: AbortSignal): AsyncGenerator<Call[]> {
  let last: Call | undefined
  do {
    signal.throwIfAborted()
    let query = matching(tenant, filter).selectAll().orderBy('created_at', 'desc').orderBy('id', 'desc')
    if (last !== undefined) {
      const { created_at, id } = last
      query = query
        .where('created_at', '<=', created_at)
        .where((eb) => eb.or([eb('created_at', '<', created_at), eb('id', '<', id)]))
    }
    const calls = await query.limit(ROWS_PER_QUERY).execute()
    if (calls.length > 0) yield calls
    last = calls.length === ROWS_PER_QUERY ? calls[calls.length - 1] : undefined
  } while (last !== undefined)
}

export type Cell = string | number | boolean | null

/** One record of RFC 4180, line end included. `phones` names the columns whose phone numbers are kept as they are. */
export function csvRecord(cells: readonly Cell[], phones: ReadonlySet<number>): string {
  let line = ''
  for (let i = 0; i < cells.length; i++) {
    if (i > 0) line += ','
    const cell = cells[i]
    if (typeof cell === 'string') line += quoted(phones.has(i) && PHONE.test(cell) ? cell : unarmed(cell))
    else if (cell !== null && cell !== undefined) line += String(cell)
  }
  return `${line}\r\n`
}

/** Such a column may hold what a carrier or a file calls a number: only digits are beyond doubt. */
const PHONE = /^\+\d+(?:[ ().-]\d+|[ ().-])*$/

/** A text that a spreadsheet would run as a formula gets an apostrophe in front. */
function unarmed(text: string): string {
  return /^[=+\-@\t\r]/.test(text) ? `'${text}` : text
}

function quoted(text: string): string {
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}
