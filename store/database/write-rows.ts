import type { Logger } from '../../runtime/process/log.ts'
import { countLostRows } from '../../runtime/process/metrics/lost-rows.ts'
import { isUnreachable, sqlState } from './database.ts'

/** Writes of many rows, of which the database may refuse one: the others are written, and that one is given up. */

/** Cardinality, data, constraint, routines, check option, program limits, and errors that triggers raise (SQLSTATE classes). */
const REFUSED_CLASSES = new Set(['21', '22', '23', '38', '39', '44', '54', 'P0'])
/** Connection, state and rights of the database, resources, locks, its operator, its disk. */
const OUTAGE_CLASSES = new Set(['08', '25', '28', '3D', '53', '55', '57', '58'])
/** A row can cause it: its statement ran too long. */
const QUERY_CANCELED = '57014'

export interface RowsToWrite<Row> {
  /** For the log and the metrics. */
  table: string | ((row: Row) => string)
  rows: readonly Row[]
  /** Writes them in one statement or transaction, or throws and wrote none. */
  write(rows: readonly Row[]): Promise<unknown>
  /** What a refused row is written in instead, in order; absent or empty: it is given up. */
  parts?(row: Row): readonly Row[]
  /** Names a row in the log; nothing of what people said. */
  about(row: Row): Readonly<Record<string, unknown>>
  log: Logger
  /** An error unrelated to the rows, such as a deleted parent: rethrown. */
  passes?(error: unknown): boolean
  /** An error that may or may not be a row's fault counts as one: it came too often. */
  isLastTry?: boolean
}

export interface RowsWritten<Row> {
  /** Given up: logged and counted. */
  refused: readonly Row[]
  /** Neither written nor refused, because of `error`: they may be tried again. */
  left: readonly Row[]
  error?: unknown
}

/**
 * Writes the rows together. Where the database refuses them it halves them until the rows at fault stand alone; each of these is
 * logged and counted once. The order of the others stays.
 */
export async function writeRows<Row>(options: RowsToWrite<Row>): Promise<RowsWritten<Row>> {
  const { rows, write, passes, parts: partsOf, isLastTry = false } = options
  const refused: Row[] = []
  const parts: (readonly Row[])[] = rows.length === 0 ? [] : [rows]
  for (let part = parts.pop(); part !== undefined; part = parts.pop()) {
    try {
      await write(part)
    } catch (error) {
      if (passes?.(error) === true) throw error
      if (!isRefusal(error, isLastTry)) return { refused, left: [...part, ...parts.reverse().flat()], error }
      const [row] = part
      if (part.length === 1 && row !== undefined) {
        const pieces = partsOf?.(row) ?? []
        if (pieces.length > 0) {
          parts.push(pieces)
          continue
        }
        refused.push(row)
        giveUp(options, row, error)
      } else {
        const middle = part.length >> 1
        parts.push(part.slice(middle), part.slice(0, middle))
      }
    }
  }
  return { refused, left: [] }
}

/** Writes one row. False: it was refused, logged and counted. Throws what is not the row's fault. */
export async function writeRow(
  table: string,
  about: Readonly<Record<string, unknown>>,
  log: Logger,
  write: () => Promise<unknown>,
): Promise<boolean> {
  const { refused, left, error } = await writeRows({ table, rows: [about], write, about: (row) => row, log })
  if (left.length > 0) throw error
  return refused.length === 0
}

/** Whether the database will never take the row as it is. */
export function isRefusal(error: unknown, isLastTry = false): boolean {
  const code = sqlState(error)
  // Values that can't be sent: an invalid date, a text that is too long.
  if (code === undefined) return !isUnreachable(error) && (error instanceof RangeError || error instanceof TypeError)
  const group = code.slice(0, 2)
  if (REFUSED_CLASSES.has(group)) return true
  return isLastTry && (code === QUERY_CANCELED || !OUTAGE_CLASSES.has(group))
}

function giveUp<Row>({ table: of, about, log }: RowsToWrite<Row>, row: Row, error: unknown): void {
  const table = typeof of === 'string' ? of : of(row)
  countLostRows(table, 'refused')
  // The error's own details quote the row.
  const { message } = error as Error
  log.error(
    { ...about(row), table, code: sqlState(error), reason: message },
    'The database refused a row; it is given up',
  )
}
