/**
 * Runs test files side by side: `node scripts/run-tests.ts <file>…`, and prints a line for each, what failed in it, and at
 * the end the counts as TAP has them. They are plain Node: tap's own runner collects coverage of everything they start, and puts
 * hooks for mocks before every module, which costs more than most tests.
 */
import { spawn } from 'node:child_process'
import { availableParallelism, tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { isMachineBusy, ProcessorLoad } from './processor-load.ts'
import { countResults, failuresOf } from './tap-results.ts'
import { needsMachine, needsPriority, roomOf, testGroups } from './test-groups.ts'
import { inOrder, LastTimes } from './test-order.ts'

interface Unit {
  name: string
  /** Files that share a process. */
  group: readonly string[]
  inRealTime: boolean
}

/** Of what hangs: on a machine that is busy with others a file may take ten times as long as alone. */
const FILE_TIMEOUT_S = 900
/** tap ends a file that is late by itself, and says where it was. */
const KILL_AFTER_S = 30
/** Of what plays and hears nothing: it gives way to what does, as it would be elsewhere. */
const ASIDE_NICENESS = 10
const PROCESSORS = availableParallelism()
/** Beside others who keep the machine busy there is never time for more. */
const LEAST_AT_ONCE = isMachineBusy ? PROCESSORS * 2 : PROCESSORS
/** How many may be under way, and the share of the processor's time from which on nothing more is begun. */
const MOST_AT_ONCE = PROCESSORS * 6
const MOST_BESIDE_REAL_TIME = PROCESSORS * 5
const ENOUGH = 0.95
const IDLE = 0.6
const SHORT_LOOK_MS = 250
const LOOK_MS = 500
/** V8 optimises what runs often, with a second thread; of a process that lives for seconds most of it comes too late to be worth it. */
const LATER_OPTIMISED = ['--invocation-count-for-turbofan=12000', '--invocation-count-for-osr=3200']
/** Of what a file prints besides its results. */
const KEPT_CHARACTERS = 20_000

const files = process.argv.slice(2)
const interrupted = new AbortController()
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(signal, () => interrupted.abort())
// Read by each file for the tests in it; what one process compiled, the next need not.
const env = {
  ...process.env,
  NODE_COMPILE_CACHE: join(tmpdir(), `patchbay-compiled-${process.getuid?.() ?? 0}`),
}
const units: Unit[] = testGroups(files).map((group) => {
  const [first = '', ...more] = group
  const names = group.map((file) => relative(roomOf(first), file).replace(/\.test\.ts$/, ''))
  const name = more.length === 0 ? first : `${roomOf(first)}: ${names.join(' ')}`
  return { name, group, inRealTime: group.some((file) => needsMachine(file)) }
})
const lastTimes = new LastTimes()
const counts = { passed: 0, failed: 0 }

// Those that play and hear one at a time, beside others, which leave them room.
const inRealTime = units.filter((unit) => unit.inRealTime)
let mostAtOnce = inRealTime.length > 0 ? MOST_BESIDE_REAL_TIME : MOST_AT_ONCE
const lane = oneByOne(inRealTime).finally(() => {
  mostAtOnce = MOST_AT_ONCE
})
await Promise.all([lane, sideBySide(units.filter((unit) => !unit.inRealTime))])
lastTimes.keep()
const { passed, failed } = counts
process.stdout.write(`# { total: ${passed + failed}, pass: ${passed}, fail: ${failed} }\n`)
process.exitCode = failed > 0 || interrupted.signal.aborted ? 1 : 0

async function oneByOne(units: readonly Unit[]): Promise<void> {
  for (const unit of units) if (!interrupted.signal.aborted) await run(unit)
}

/** As many at once as the machine has time for: most wait more than they compute. */
async function sideBySide(units: readonly Unit[]): Promise<void> {
  const left = inOrder(units, lastTimes)
  const running = new Set<Promise<void>>()
  const load = new ProcessorLoad()
  while (left.length > 0 && !interrupted.signal.aborted) {
    const busy = load.busy()
    if (running.size < LEAST_AT_ONCE || (running.size < mostAtOnce && busy < ENOUGH)) {
      const next = left.shift() as Unit
      const one: Promise<void> = run(next).finally(() => running.delete(one))
      running.add(one)
    }
    // What was just begun is to be seen in the load before the next one.
    await sleep(busy < IDLE ? SHORT_LOOK_MS : LOOK_MS)
  }
  await Promise.all(running)
}

async function run({ name, group, inRealTime }: Unit): Promise<void> {
  const [first = '', ...more] = group
  const program = more.length === 0 ? [first] : [join(import.meta.dirname, 'run-group.ts'), ...group]
  const aside = isMachineBusy || inRealTime || needsPriority(first) ? {} : { TEST_NICENESS: String(ASIDE_NICENESS) }
  const timeoutS = group.length * FILE_TIMEOUT_S
  const startedMs = performance.now()
  const modules = ['--import', join(import.meta.dirname, 'test-modules.ts')]
  const child = spawn(process.execPath, [...LATER_OPTIMISED, ...modules, ...program], {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...env, ...aside, TAP_TIMEOUT: String(timeoutS) },
  })
  const output = { tap: '', said: '' }
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    output.tap += text
  })
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    output.said = `${output.said}${text}`.slice(-KEPT_CHARACTERS)
  })
  const stop = (): void => void child.kill('SIGTERM')
  interrupted.signal.addEventListener('abort', stop)
  const done = new AbortController()
  const late = sleep((timeoutS + KILL_AFTER_S) * 1000, undefined, { signal: done.signal })
  late.then(
    () => child.kill('SIGKILL'),
    () => {},
  )
  const how = await new Promise<string>((resolve) => {
    child.on('error', ({ message }) => resolve(message))
    child.on('close', (code, signal) => resolve(code === 0 ? '' : (signal ?? `exit code ${code}`)))
  })
  done.abort()
  interrupted.signal.removeEventListener('abort', stop)
  const seconds = (performance.now() - startedMs) / 1000
  lastTimes.took(name, seconds)
  tell(name, output, how, seconds)
}

/** `how` it ended, where not well. */
function tell(name: string, { tap, said }: { tap: string; said: string }, how: string, seconds: number): void {
  const found = countResults(tap)
  const failures = failuresOf(tap)
  // A file that was cut off, tested nothing or fell after its last test failed, whatever it had counted.
  const isCut = found.passed + found.failed === 0 || (how !== '' && found.failed === 0)
  counts.passed += found.passed
  counts.failed += found.failed + (isCut ? 1 : 0)
  const isWell = !isCut && found.failed === 0
  const total = found.passed + found.failed
  const result = isWell ? `${total} OK` : `${isCut ? how || 'no test ran' : `${found.failed} failed`} of ${total}`
  const lines = [` ${isWell ? 'PASS' : 'FAIL'}  ${name}  ${result}  ${seconds.toFixed(1)} s`]
  for (const failure of failures) lines.push(`✖ ${failure}`)
  if (isCut) lines.push(tap.slice(-KEPT_CHARACTERS))
  if (said.trim() !== '') lines.push(`It said: ${said.trimEnd()}`)
  process.stdout.write(`${lines.join('\n')}\n`)
}
