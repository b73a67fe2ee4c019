import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

/** What was seen while something failed, and after it. */
export interface FailureRow {
  dependency: string
  fault: string
  /** What somebody in a call notices. */
  caller: string
  /** What requests that begin calls were answered. */
  clients: readonly string[]
  /** Why `/ready` said no; none: it stayed ready. */
  ready: readonly string[]
  /** What the log says, without its data. */
  log: readonly string[]
  /** From the end of the fault until calls begin again and `/ready` says so. */
  recoveryMs: number
}

const FILE = join(import.meta.dirname, '../../../docs/failures.md')
const BEGIN = '<!-- measured: begin -->'
const END = '<!-- measured: end -->'
const BUCKETS_S = [1, 2, 5, 10, 20, 30]

const cell = (texts: readonly string[]): string =>
  texts.length === 0 ? '–' : texts.map((text) => text.replaceAll('|', '\\|')).join('<br>')

function lineOf({ dependency, fault, caller, clients, ready, log, recoveryMs }: FailureRow): string {
  const within = BUCKETS_S.find((seconds) => recoveryMs <= seconds * 1_000)
  const recovery = within === undefined ? 'more than 30 s' : `within ${within} s`
  return `| ${dependency} | ${fault} | ${caller} | ${cell(clients)} | ${cell(ready)} | ${cell(log)} | ${recovery} |`
}

/** Puts the rows into docs/failures.md where UPDATE_FAILURES is set. Returns the faults that the page has no row for. */
export async function missingInDocs(rows: readonly FailureRow[]): Promise<string[]> {
  const text = await readFile(FILE, 'utf8')
  const [head = '', rest = ''] = text.split(BEGIN)
  const [table = '', tail = ''] = rest.split(END)
  if (process.env.UPDATE_FAILURES !== undefined) {
    const measured = [
      '| dependency | fault | a caller notices | clients that begin calls get | `/ready` says | the log says | well again after its end |',
      '|---|---|---|---|---|---|---|',
      ...rows.map(lineOf),
    ]
    await writeFile(FILE, `${head}${BEGIN}\n${measured.join('\n')}\n${END}${tail}`)
    return []
  }
  return rows
    .filter(({ dependency, fault }) => !table.includes(`| ${dependency} | ${fault} |`))
    .map(({ dependency, fault }) => `${dependency}: ${fault}`)
}
