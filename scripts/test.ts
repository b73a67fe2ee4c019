/**
 * `npm test`: types, lint and every test. Prints `N passed, M failed` as its last line and exits 0 only when nothing failed. Arguments
 * name test files or folders; without any, the types and the lint of everything are checked and all tests run.
 *
 * The folder of a test file decides how it runs (CONTRIBUTING.md): files of test/unit share a process, those of test/realtime run one
 * after the other and begin first, and every other file has a process of its own beside others.
 */
import { spawn } from 'node:child_process'
import { globSync, statSync } from 'node:fs'
import { availableParallelism, tmpdir } from 'node:os'
import { join, relative, resolve } from 'node:path'
import { inspect } from 'node:util'
import { Parser, type Result } from 'tap-parser'
import { stringify } from 'yaml'

/** Files that run in one process, one after the other. */
interface TestRun {
  name: string
  files: readonly string[]
}

const ROOT = join(import.meta.dirname, '..')
/** Loading modules costs most unit tests more than they compute; a longer run would keep all others waiting at the end. */
const FILES_PER_PROCESS = 8
/** How many run beside each other and the real-time tests: most wait for timers and calls, but audio that comes late fails a test. */
const AT_ONCE = availableParallelism() * 2
/** Real-time tests need the processor at once when audio arrives, and system tests before unit tests that fill the pauses of theirs. */
const NICENESS_BESIDE = 8
/** Unit tests beside the others once the real-time tests are over: they take what system tests leave of the processor, a quarter of it. */
const FILLERS = Math.ceil(availableParallelism() / 2)
/** For files that hang: on a busy machine a file may take ten times as long as alone. `TAP_TIMEOUT` in seconds by hand, for a test that is told to do more. */
const FILE_TIMEOUT_S = Number(process.env.TAP_TIMEOUT ?? 900)
/** tap itself stops a file that is late, and says where it was. */
const KILL_AFTER_S = 30
/** Of what a file prints besides its results. */
const KEPT_CHARACTERS = 20_000

const CHECKS = [
  // One checker: several repeat much of their work, and the tests need the other cores.
  ['Types', 'typescript/bin/tsc', ['--noEmit', '--checkers', '1']],
  ['Types of the console', 'typescript/bin/tsc', ['--noEmit', '--checkers', '1', '-p', 'web/console']],
  ['Types of the client', 'typescript/bin/tsc', ['-p', 'packages/web']],
  ['Types of the example', 'typescript/bin/tsc', ['-p', 'examples/web']],
  ['Lint', '@biomejs/biome/bin/biome', ['check', '--error-on-warnings']],
] as const

const ENV = {
  ...process.env,
  // What one process compiled, the next need not.
  NODE_COMPILE_CACHE: join(tmpdir(), `patchbay-compiled-${process.getuid?.() ?? 0}`),
}

const interrupted = new AbortController()
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => interrupted.abort())

const counts = { passed: 0, failed: 0, filesDone: 0 }
/** Printed again at the end of the run. */
const failures: string[] = []

const named = process.argv.slice(2)
const files = named.length > 0 ? named.flatMap(testsIn) : globSync('test/**/*.test.ts', { cwd: ROOT }).sort()
const realtime = files.filter((file) => file.startsWith('test/realtime/')).map(aloneInProcess)
const unit = groupsOf(files.filter((file) => file.startsWith('test/unit/')))
const fileCount = files.length
const system = files.filter((file) => !/^test\/(unit|realtime)\//.test(file)).map(aloneInProcess)

// Beside the tests: the longest of them wait for audio, not for the processor.
const checked = named.length > 0 ? undefined : checkAll()
let isRealtimeDone = realtime.length === 0
const inRealtime = runInTurn(() => realtime.shift()).finally(() => {
  isRealtimeDone = true
})
// Unit tests disturb real-time tests least. Afterwards the long system tests go first, so that none is left to run alone at the end.
const next = () => (isRealtimeDone ? (system.shift() ?? unit.shift()) : (unit.shift() ?? system.shift()))
const niceness = () => (isRealtimeDone ? 0 : NICENESS_BESIDE)
const lanes = Array.from({ length: AT_ONCE }, () => runInTurn(next, niceness))
const fillers = Array.from({ length: FILLERS }, async () => {
  await inRealtime
  await runInTurn(
    () => unit.shift(),
    () => (system.length > 0 ? NICENESS_BESIDE : 0),
  )
})
await Promise.all([checked, inRealtime, ...lanes, ...fillers])

if (failures.length > 0) process.stdout.write(`\nWhat failed:\n${failures.join('')}`)
// A run that was interrupted failed, whatever it had counted.
if (interrupted.signal.aborted || counts.passed === 0) counts.failed = Math.max(counts.failed, 1)
process.stdout.write(`\n${counts.passed} passed, ${counts.failed} failed\n`)
process.exitCode = counts.failed === 0 ? 0 : 1

/** The test files that an argument names. */
function testsIn(path: string): string[] {
  const isFolder = statSync(path, { throwIfNoEntry: false })?.isDirectory()
  const paths = isFolder ? globSync(`${path}/**/*.test.ts`).sort() : [path]
  if (paths.length > 0 && paths.every((one) => one.endsWith('.test.ts') && statSync(one, { throwIfNoEntry: false }))) {
    return paths.map((one) => relative(ROOT, resolve(one)))
  }
  process.stderr.write(`patchbay: ${path} is no test file and no folder with any; they are called test/….test.ts\n`)
  process.exit(1)
}

function aloneInProcess(file: string): TestRun {
  return { name: file, files: [file] }
}

/** Neighbours of a room (test/unit/api) share a process. */
function groupsOf(unitFiles: readonly string[]): TestRun[] {
  const rooms = Map.groupBy(unitFiles, (file) => file.split('/').slice(0, 3).join('/'))
  return [...rooms].flatMap(([room, inRoom]) => {
    const groups = Array.from({ length: Math.ceil(inRoom.length / FILES_PER_PROCESS) }, (_, at) =>
      inRoom.slice(at * FILES_PER_PROCESS, (at + 1) * FILES_PER_PROCESS),
    )
    return groups.map((group) => {
      const names = group.map((file) => relative(room, file).replace(/\.test\.ts$/, ''))
      return group.length > 1 ? { name: `${room}: ${names.join(' ')}`, files: group } : aloneInProcess(group[0] ?? room)
    })
  })
}

async function runInTurn(take: () => TestRun | undefined, niceness = () => 0): Promise<void> {
  for (let run = take(); run !== undefined && !interrupted.signal.aborted; run = take()) {
    await runTests(run, niceness())
  }
}

async function runTests({ name, files }: TestRun, niceness: number): Promise<void> {
  const startedMs = performance.now()
  const timeoutS = files.length * FILE_TIMEOUT_S
  const program = join(import.meta.dirname, 'test-files.ts')
  const { fault, stdout, stderr } = await runNode([program, ...files], {
    niceness,
    env: { ...ENV, TAP_TIMEOUT: String(timeoutS) },
    killAfterS: timeoutS + KILL_AFTER_S,
  })
  const results = resultsOf(stdout, files)
  const total = results.passed + results.failed.length
  // A process that was killed, tested nothing or failed after its last test counts as a failure.
  const isCut = total === 0 || (fault !== '' && results.failed.length === 0)
  const isWell = !isCut && results.failed.length === 0
  counts.passed += results.passed
  counts.failed += results.failed.length + (isCut ? 1 : 0)
  counts.filesDone += files.length
  const outcome = isCut
    ? `${fault || 'no test ran'}, ${total} OK`
    : isWell
      ? `${total} OK`
      : `${results.failed.length} of ${total} failed`
  const seconds = ((performance.now() - startedMs) / 1000).toFixed(1)
  const lines = [`${isWell ? 'PASS' : 'FAIL'}  ${name}  ${outcome}  ${seconds} s`, ...results.failed]
  if (isCut) lines.push(stdout.slice(-KEPT_CHARACTERS).trimEnd())
  if (stderr.trim() !== '') lines.push(`It said: ${stderr.slice(-KEPT_CHARACTERS).trimEnd()}`)
  report(`[${counts.filesDone}/${fileCount}] ${lines.join('\n')}\n`, isWell)
}

/** What passed and failed in a process's TAP, of the failures their names and what is known of them. */
function resultsOf(tap: string, files: readonly string[]): { passed: number; failed: string[] } {
  const results = { passed: 0, failed: [] as string[] }
  const parser = new Parser()
  parser.on('pass', ({ fullname }: Result) => {
    if (files.includes(fullname)) results.failed.push(`✖ ${fullname} has no test`)
    else results.passed++
  })
  parser.on('fail', ({ fullname, diag }: Result) => {
    const known = diag ? printed(diag).replaceAll(/^(?=.)/gm, '  ') : ''
    results.failed.push(`✖ ${fullname}\n${known}`.trimEnd())
  })
  parser.end(tap)
  return results
}

/** What is known of a failure. What a test compared may hold functions, which YAML has no words for. */
function printed(diag: unknown): string {
  try {
    return stringify(diag, { lineWidth: 0, blockQuote: 'literal' }).trimEnd()
  } catch {
    return inspect(diag, { depth: 8 })
  }
}

async function checkAll(): Promise<void> {
  for (const [what, program, args] of CHECKS) {
    if (interrupted.signal.aborted) return
    const { fault, stdout, stderr } = await runNode([join('node_modules', program), ...args], {
      niceness: NICENESS_BESIDE,
      // The type checker collects its garbage a quarter as often: it ends before it would fill a machine.
      env: { ...process.env, CI: '1', GOGC: '400' },
    })
    const isWell = fault === ''
    if (isWell) counts.passed++
    else counts.failed++
    const said = isWell ? '' : `${stdout}${stderr}`.slice(-KEPT_CHARACTERS)
    report(`${said}${what}: ${isWell ? 'no fault' : 'faults, see above'}\n`, isWell)
  }
}

function report(text: string, isWell: boolean): void {
  process.stdout.write(text)
  if (!isWell) failures.push(text)
}

interface NodeOptions {
  niceness: number
  env: NodeJS.ProcessEnv
  killAfterS?: number
}

/** `fault` is how the process ended, where not well. */
async function runNode(args: readonly string[], { niceness, env, killAfterS }: NodeOptions) {
  const [program = '', ...programArgs] =
    niceness === 0 ? [process.execPath, ...args] : ['nice', '-n', String(niceness), process.execPath, ...args]
  const child = spawn(program, programArgs, { cwd: ROOT, env, stdio: ['ignore', 'pipe', 'pipe'] })
  const output = { stdout: '', stderr: '' }
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    output.stdout += text
  })
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    output.stderr += text
  })
  const stop = (): void => void child.kill('SIGTERM')
  interrupted.signal.addEventListener('abort', stop)
  const late = killAfterS === undefined ? undefined : setTimeout(() => child.kill('SIGKILL'), killAfterS * 1000)
  const fault = await new Promise<string>((resolve) => {
    child.on('error', ({ message }) => resolve(message))
    child.on('close', (code, signal) => resolve(code === 0 ? '' : (signal ?? `exit code ${code}`)))
  })
  clearTimeout(late)
  interrupted.signal.removeEventListener('abort', stop)
  return { fault, ...output }
}
