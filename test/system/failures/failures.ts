import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Teardown } from '../../support/instance/services.ts'
import { type FaultProxy, startFaultProxy } from '../../support/world/fault-proxy.ts'

/** What was seen while something failed, and after it. */
export interface FailureRow {
  dependency: string
  fault: string
  /** What somebody in a call notices. */
  caller: string
  /** What requests that need it were answered, or what became of the work. */
  clients: readonly string[]
  /** Why `/ready` said no; none: it stayed ready. Absent: calls need none of it, and `/ready` does not ask it. */
  ready?: readonly string[]
  /** What the log says, without its data. */
  log: readonly string[]
  /** From the end of the fault until calls begin again and `/ready` says so. */
  recoveryMs: number
}

/** The tables of the page, by the name in their marks, with what stands over `clients`. */
const TABLES = {
  stores: 'clients that begin calls get',
  clocks: 'clients that begin calls get',
  services: 'what needs it gets',
  providers: 'the call',
} as const

const FILE = join(import.meta.dirname, '../../../docs/failures.md')
const BUCKETS_S = [1, 2, 5, 10, 20, 30]

const cell = (texts: readonly string[]): string =>
  texts.length === 0 ? '–' : texts.map((text) => text.replaceAll('|', '\\|')).join('<br>')

const rowOf = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`

function lineOf({ dependency, fault, caller, clients, ready, log, recoveryMs }: FailureRow): string {
  const within = BUCKETS_S.find((seconds) => recoveryMs <= seconds * 1_000)
  const recovery = within === undefined ? 'more than 30 s' : `within ${within} s`
  const cells = [dependency, fault, caller, cell(clients), ...(ready === undefined ? [] : [cell(ready)]), cell(log)]
  return rowOf([...cells, recovery])
}

/** Puts the rows into docs/failures.md where UPDATE_FAILURES is set. Returns the faults that the page has no row for. */
export async function missingInDocs(table: keyof typeof TABLES, rows: readonly FailureRow[]): Promise<string[]> {
  const text = await readFile(FILE, 'utf8')
  const [begin, end] = [`<!-- ${table}: begin -->`, `<!-- ${table}: end -->`]
  const [head = '', rest = ''] = text.split(begin)
  const [lines = '', tail = ''] = rest.split(end)
  if (process.env.UPDATE_FAILURES !== undefined) {
    const ready = rows[0]?.ready === undefined ? [] : ['`/ready` says']
    const names = ['dependency', 'fault', 'a caller notices', TABLES[table], ...ready, 'the log says']
    const titles = [...names, 'well again after its end']
    const measured = [rowOf(titles), `|${'---|'.repeat(titles.length)}`, ...rows.map(lineOf)]
    await writeFile(FILE, `${head}${begin}\n${measured.join('\n')}\n${end}${tail}`)
    return []
  }
  return rows
    .filter(({ dependency, fault }) => !lines.includes(`| ${dependency} | ${fault} |`))
    .map(({ dependency, fault }) => `${dependency}: ${fault}`)
}

export interface Fault {
  name: string
  begin(): unknown
  end(): unknown
}

/** What happens to the network before a server, and to the server as a whole. */
export const faultsOfNetwork = (proxy: FaultProxy): Fault[] => [
  { name: 'stopped', begin: proxy.refuse, end: proxy.mend },
  { name: 'takes connections and never answers', begin: proxy.blackHole, end: proxy.mend },
  { name: 'answers after 2 s', begin: () => proxy.delay(1_000), end: proxy.mend },
  { name: 'answers after 30 s', begin: () => proxy.delay(15_000), end: proxy.mend },
  {
    name: 'resets each tenth connection, and all once',
    begin: () => {
      proxy.resetEach(10)
      proxy.reset()
    },
    end: proxy.mend,
  },
  { name: 'is cut off in the middle of an answer', begin: () => proxy.cutInAnswer(20), end: proxy.mend },
]

/** A proxy before the server of the URL, and the same URL through it. */
export async function proxied(t: Teardown, url: string): Promise<{ proxy: FaultProxy; url: string }> {
  const { hostname, host, port } = new URL(url)
  const proxy = await startFaultProxy(t, { port: Number(port), host: hostname })
  return { proxy, url: url.replace(host, `127.0.0.1:${proxy.port}`) }
}

/** Lines of a log by their words, without their data; `of` forgets those it gave. */
export function heardLog() {
  const said = new Set<string>()
  const write = (line: string): void => {
    const { level, msg } = JSON.parse(line) as { level: number | string; msg: string }
    if (level !== 'info' && level !== 30) said.add(msg.replace(/ \(127\.0\.0\.1:\d+\)/g, ''))
  }
  return {
    destination: { write },
    of(): string[] {
      const lines = [...said].sort()
      said.clear()
      return lines
    },
  }
}
