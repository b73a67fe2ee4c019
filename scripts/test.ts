/**
 * `npm test`: types, lint and every test. Prints `N passed, M failed` as its last line and exits 0 only when nothing
 * failed. Arguments name test files or folders; without any, the types and the lint of everything are checked and all
 * tests run.
 */
import { spawn } from 'node:child_process'
import { globSync, statSync } from 'node:fs'
import { constants, setPriority } from 'node:os'
import { join } from 'node:path'
import { isMachineBusy } from './processor-load.ts'
import { countResults } from './tap-results.ts'

const root = join(import.meta.dirname, '..')
/** The end of what a program prints: tap has its summary there. */
const KEPT_CHARACTERS = 20_000
const SHOW_CURSOR = '\u001b[?25h'

const files = process.argv.slice(2).flatMap((path) => {
  const found = statSync(path, { throwIfNoEntry: false })
  const tests = found?.isDirectory() ? globSync(`${path}/**/*.test.ts`) : path.endsWith('.test.ts') ? [path] : []
  return found === undefined || tests.length === 0 ? noTest(path) : tests
})
function noTest(path: string): never {
  process.stderr.write(`patchbay: ${path} is no test file and no folder with any; they are called test/….test.ts\n`)
  process.exit(1)
}
const interrupted = new AbortController()
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => interrupted.abort())

/**
 * Runs a program of the repository or of its packages; resolves with its success and the end of its output.
 * @param beside it gives way where there is room for all, and what it prints is not passed on: others print meanwhile
 */
async function run(
  program: string,
  args: readonly string[],
  { beside = false } = {},
): Promise<{ ok: boolean; output: string }> {
  if (interrupted.signal.aborted) return { ok: false, output: '' }
  const child = spawn(process.execPath, [join(root, program), ...args], {
    cwd: root,
    // As in a CI job, tap prints one line a file instead of redrawing its table.
    // The type checker collects its garbage a quarter as often: it ends before it would fill a machine.
    env: { ...process.env, CI: '1', ...(beside && { GOGC: '400' }) },
    stdio: ['inherit', 'pipe', 'inherit'],
  })
  if (beside && !isMachineBusy && child.pid !== undefined) setPriority(child.pid, constants.priority.PRIORITY_LOW)
  const stop = (): void => void child.kill('SIGTERM')
  interrupted.signal.addEventListener('abort', stop)
  let output = ''
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    const shown = text.replaceAll(SHOW_CURSOR, '')
    output = `${output}${shown}`.slice(-KEPT_CHARACTERS)
    if (!beside) process.stdout.write(shown)
  })
  const code = await new Promise<number | null>((resolve) => child.on('close', resolve))
  interrupted.signal.removeEventListener('abort', stop)
  return { ok: code === 0, output }
}

let passed = 0
let failed = 0

async function checkAll(): Promise<void> {
  for (const [what, program, args] of [
    // Several checkers do much of their work twice, and the tests have use for the other cores.
    ['Types', 'node_modules/typescript/bin/tsc', ['--noEmit', '--checkers', '1']],
    ['Types of the console', 'node_modules/typescript/bin/tsc', ['--noEmit', '--checkers', '1', '-p', 'web/console']],
    ['Types of the client', 'node_modules/typescript/bin/tsc', ['-p', 'packages/web']],
    ['Types of the example', 'node_modules/typescript/bin/tsc', ['-p', 'examples/web']],
    ['Lint', 'node_modules/@biomejs/biome/bin/biome', ['check', '--error-on-warnings']],
  ] as const) {
    const { ok, output } = await run(program, args, { beside: true })
    process.stdout.write(`${ok ? '' : output}${what}: ${ok ? 'no fault' : 'faults, see above'}\n`)
    if (ok) passed++
    else failed++
  }
}

// Beside each other: the longest tests wait for sound, not for the processor.
const checked = files.length === 0 ? checkAll() : undefined
const tests = files.length > 0 ? files : globSync('test/**/*.test.ts', { cwd: root }).sort()
const { ok, output } = await run('scripts/run-tests.ts', tests)
await checked
const counts = countResults(output)
passed += counts.passed
// A run that was cut off or found nothing to run failed, whatever it had counted.
failed += ok && counts.passed > 0 ? counts.failed : Math.max(counts.failed, 1)
process.stdout.write(`\n${passed} passed, ${failed} failed\n`)
process.exitCode = failed === 0 ? 0 : 1
