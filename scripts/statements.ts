import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'

/**
 * The statements of the specification and the tests that show them, from test/system/statements/statements.md. Run by itself it prints
 * them and fails on one without a test, and on a test that is not there. With `--nodes=2` it runs those of the tests that start an
 * api, over so many nodes behind one address.
 */

const ROOT = join(import.meta.dirname, '..')
const TABLE = 'test/system/statements/statements.md'

export interface Statement {
  number: string
  kind: string
  says: string
  /** Tests as `file › title`; none: `why` says why not. */
  tests: readonly string[]
  why: string | undefined
}

export interface StatementTable {
  statements: readonly Statement[]
  /** A sentence for each row without a test and each test that is not there. */
  faults: readonly string[]
}

const TEST = /^- ([a-z0-9-]+): (\S+\.test\.ts) › (.+)$/
const ROW = /^\| (\d+(?:\.\d+)+) \| (\w+) \| (.+) \| (.+) \|$/

export function readStatements(text = readFileSync(join(ROOT, TABLE), 'utf8')): StatementTable {
  const tests = new Map<string, { file: string; title: string; used: boolean }>()
  const statements: Statement[] = []
  const faults: string[] = []
  for (const line of text.split('\n')) {
    const [, key = '', file = '', title = ''] = TEST.exec(line) ?? []
    if (key !== '') tests.set(key, { file, title, used: false })
    const [, number = '', kind = '', says = '', by = ''] = ROW.exec(line) ?? []
    if (number === '') continue
    if (statements.some((one) => one.number === number)) faults.push(`${number} is there twice`)
    const why = by.startsWith('— ') ? by.slice(2) : undefined
    const shown = why === undefined ? by.split(' ').map((name) => ({ name, test: tests.get(name) })) : []
    for (const { name, test } of shown) {
      if (test === undefined) faults.push(`${number} names the test "${name}", which is not in the list`)
      else test.used = true
    }
    const named = shown.flatMap(({ test }) => (test ? [`${test.file} › ${test.title}`] : []))
    if (named.length === 0 && why === undefined) faults.push(`${number} has no test: ${says}`)
    statements.push({ number, kind, says, tests: named, why })
  }
  for (const [key, { file, title, used }] of tests) {
    if (!used) faults.push(`The test "${key}" shows no statement`)
    if (!titlesOf(file).has(title)) faults.push(`test/${file} has no test "${title}"`)
  }
  return { statements, faults }
}

const titles = new Map<string, ReadonlySet<string>>()

function titlesOf(file: string): ReadonlySet<string> {
  let found = titles.get(file)
  if (found === undefined) {
    const text = readSource(join(ROOT, 'test', file))
    found = new Set(
      [...text.matchAll(/\bt\.test\(\s*(['"`])((?:(?!\1)[^\\]|\\.)*)\1/g)].map(([, , title = '']) => title),
    )
    titles.set(file, found)
  }
  return found
}

function readSource(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return ''
  }
}

/** The files of the tests that ask an api, which they start. */
export function filesThatAsk(statements: readonly Statement[]): string[] {
  const files = statements.flatMap(({ tests }) => tests.map((test) => test.slice(0, test.indexOf(' › '))))
  const asks = (file: string): boolean => readSource(join(ROOT, 'test', file)).includes('startTestApi(')
  return [...new Set(files)].filter(asks).map((file) => `test/${file}`)
}

function runOver(nodes: number, statements: readonly Statement[]): number {
  const files = filesThatAsk(statements)
  const shown = statements.filter(({ tests }) =>
    tests.some((test) => files.some((file) => `test/${test}`.startsWith(file))),
  )
  process.stdout.write(`${shown.length} statements in ${files.length} files, over ${nodes} nodes\n`)
  const run = spawnSync('sh', ['scripts/run.sh', 'test', ...files], {
    cwd: ROOT,
    stdio: 'inherit',
    env: { ...process.env, TEST_API_NODES: String(nodes) },
  })
  return run.status ?? 1
}

if (import.meta.main) {
  const { nodes } = parseArgs({ options: { nodes: { type: 'string' } } }).values
  const { statements, faults } = readStatements()
  for (const { number, kind, says, tests, why } of statements) {
    process.stdout.write(`${number.padEnd(7)} ${kind.padEnd(10)} ${says}\n`)
    for (const line of why === undefined ? tests : [why]) process.stdout.write(`${' '.repeat(19)}${line}\n`)
  }
  process.stdout.write(
    `\n${statements.length} statements, ${statements.filter(({ why }) => why).length} without a test by nature\n`,
  )
  for (const fault of faults) process.stderr.write(`${fault}\n`)
  process.exitCode = faults.length > 0 ? 1 : 0
  if (nodes !== undefined && faults.length === 0) process.exitCode = runOver(Number(nodes), statements)
}
