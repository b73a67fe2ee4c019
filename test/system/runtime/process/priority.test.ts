import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { getPriority, setPriority } from 'node:os'
import { text } from 'node:stream/consumers'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Worker } from 'node:worker_threads'
import t from 'tap'
import { endThread, startThread } from '../../../../runtime/process/offload/thread.ts'
import {
  hurryThread,
  lowerProcess,
  lowerServicePriority,
  lowerSession,
  lowerThread,
  restoreProcess,
  restoreThread,
} from '../../../../runtime/process/priority.ts'
import { autogroupOf } from '../../../../runtime/process/scheduling/autogroup.ts'
import { systemIdOf } from '../../../../runtime/process/scheduling/thread-ids.ts'
import { withoutAutogroups } from '../../../support/instance/without-autogroups.ts'

const THREAD = `
import { readFileSync } from 'node:fs'
import { parentPort } from 'node:worker_threads'
import { lowerThreadPriority } from ${JSON.stringify(new URL('../../../../runtime/process/priority.ts', import.meta.url).href)}
lowerThreadPriority()
parentPort.postMessage(readFileSync('/proc/thread-self/stat', 'utf8'))
`
/** Field 19 of proc_pid_stat(5); the name before may hold spaces. */
const niceOf = (stat: string): number => Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[16])

t.test(
  'a thread gives way to the loop that started it',
  { skip: process.platform !== 'linux' && 'threads have a priority of their own on Linux alone' },
  async (t) => {
    const before = niceOf(readFileSync('/proc/thread-self/stat', 'utf8'))
    const thread = startProgram(THREAD)
    t.teardown(() => endThread(thread))
    const stat = await new Promise<string>((resolve, reject) => thread.on('message', resolve).on('error', reject))
    t.equal(niceOf(stat), Math.min(19, Math.max(0, before) + 10))
    t.equal(niceOf(readFileSync('/proc/thread-self/stat', 'utf8')), before, 'the loop itself stays')
  },
)

const AS_LOOP = THREAD.replaceAll('lowerThreadPriority', 'beginAsLoop').replace(
  'beginAsLoop()',
  `const { setPriority } = await import('node:os')
setPriority(1)
beginAsLoop()`,
)

t.test(
  'a thread that callers wait for has the share of its loop, whatever it began with',
  { skip: process.platform !== 'linux' && 'threads have a priority of their own on Linux alone' },
  async (t) => {
    const thread = startProgram(AS_LOOP)
    t.teardown(() => endThread(thread))
    const stat = await new Promise<string>((resolve, reject) => thread.on('message', resolve).on('error', reject))
    t.equal(niceOf(stat), mayRaise() ? getPriority(process.pid) : Math.max(1, getPriority(process.pid)))
  },
)

const SPINNING = `
import { readFileSync } from 'node:fs'
import { parentPort } from 'node:worker_threads'
import { useNormalPriority } from ${JSON.stringify(new URL('../../../../runtime/process/priority.ts', import.meta.url).href)}
const stat = () => readFileSync('/proc/thread-self/stat', 'utf8')
useNormalPriority()
parentPort.postMessage(stat())
parentPort.on('message', (until) => {
  const nice = () => Number(stat().slice(stat().lastIndexOf(')') + 2).split(' ')[16])
  while (nice() < until);
  parentPort.postMessage(stat())
})
`

t.test(
  'a thread begins as any other, gives way when it is told to, and goes before others to its end',
  { skip: process.platform !== 'linux' && 'threads have a priority of their own on Linux alone' },
  async (t) => {
    const before = Math.max(0, niceOf(readFileSync('/proc/thread-self/stat', 'utf8')))
    const thread = startProgram(SPINNING)
    t.teardown(() => endThread(thread))
    const told = async () => (await once(thread, 'message'))[0] as string
    t.equal(systemIdOf(thread), undefined, 'its id is known once it runs')
    t.equal(lowerThread(thread), false)
    const begun = await told()
    t.equal(niceOf(begun), before)
    t.equal(systemIdOf(thread), Number(begun.split(' ')[0]))
    const low = Math.min(19, before + 10)
    t.equal(lowerThread(thread), true)
    thread.postMessage(low)
    t.equal(niceOf(await told()), low)
    t.equal(restoreThread(thread), mayRaise(), 'which only some may undo')
    t.equal(niceOfThread(thread), mayRaise() ? before : low)
    hurryThread(thread)
    t.ok(mayRaise() ? niceOfThread(thread) < before : niceOfThread(thread) <= low, 'it goes before others')
    await endThread(thread)
    t.equal(systemIdOf(thread), undefined, 'and has no id once it is gone')
    t.doesNotThrow(() => hurryThread(thread))
    const silent = startProgram('setInterval(() => {}, 1_000)')
    await once(silent, 'online')
    t.doesNotThrow(() => hurryThread(silent), 'one that noted no id')
    await t.resolves(endThread(silent))
  },
)

t.test('each thread has an id of its own, those that threads start, too', async (t) => {
  const program = `
import { parentPort } from 'node:worker_threads'
import { startThread } from ${JSON.stringify(new URL('../../../../runtime/process/offload/thread.ts', import.meta.url).href)}
import { noteThreadId, systemIdOf } from ${JSON.stringify(new URL('../../../../runtime/process/scheduling/thread-ids.ts', import.meta.url).href)}
const own = noteThreadId()
if (DEPTH > 0) {
  const inner = startThread(new URL('data:text/javascript,' + encodeURIComponent(PROGRAM)), {})
  inner.on('message', (ids) => parentPort.postMessage([own, systemIdOf(inner), ...ids]))
} else parentPort.postMessage([own])
`
  const inner = program.replaceAll('DEPTH', '0')
  const threads = Array.from({ length: 3 }, () =>
    startProgram(program.replaceAll('DEPTH', '1').replaceAll('PROGRAM', JSON.stringify(inner))),
  )
  t.teardown(() => Promise.all(threads.map(endThread)))
  const told = await Promise.all(
    threads.map(async (thread) => {
      const [[own, known, noted]] = (await once(thread, 'message')) as [(number | undefined)[]]
      t.equal(systemIdOf(thread), own)
      t.equal(known, noted)
      return [own, known]
    }),
  )
  const ids = told.flat()
  t.equal(new Set(ids).size, process.platform === 'linux' ? 6 : 1)
})

function startProgram(program: string): Worker {
  return startThread(new URL(`data:text/javascript,${encodeURIComponent(program)}`), {})
}

const niceOfThread = (thread: Worker): number =>
  niceOf(readFileSync(`/proc/self/task/${systemIdOf(thread)}/stat`, 'utf8'))

t.test(
  'a service gives way to the loop that started it, with all that it starts',
  { skip: process.platform !== 'linux' && 'reads /proc' },
  async (t) => {
    const before = niceOf(readFileSync('/proc/thread-self/stat', 'utf8'))
    const shell = spawn('sh', ['-c', 'read line; cat /proc/self/stat'], { stdio: ['pipe', 'pipe', 'inherit'] })
    lowerServicePriority(shell.pid)
    shell.stdin.end('go\n')
    const stat = await text(shell.stdout)
    t.equal(niceOf(stat), Math.min(19, Math.max(0, before) + 5))
    lowerServicePriority(undefined)
    lowerServicePriority(2 ** 22 + 1)
  },
)

const RAISED = `
import { readFileSync } from 'node:fs'
import { getPriority, setPriority } from 'node:os'
import { raiseLoopPriority } from ${JSON.stringify(new URL('../../../../runtime/process/priority.ts', import.meta.url).href)}
raiseLoopPriority(process.argv[1])
process.stdout.write(readFileSync('/proc/thread-self/stat', 'utf8'))
`

const IN_GROUP = RAISED.replace('/proc/thread-self/stat', '/proc/self/autogroup')

t.test(
  'a loop that carries audio goes before other work, where it may',
  { skip: process.platform !== 'linux' && 'reads /proc' },
  async (t) => {
    const before = niceOf(readFileSync('/proc/thread-self/stat', 'utf8'))
    const child = spawn(process.execPath, ['--input-type=module', '-e', RAISED, 'alone'], {
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    const nice = niceOf(await text(child.stdout))
    t.equal(nice, mayRaise() ? Math.max(-20, before - 5) : before)
  },
)

const WITHOUT_GROUPS = withoutAutogroups()

t.test(
  'a service in a session of its own gives way where the system weighs sessions first',
  { skip: WITHOUT_GROUPS },
  async (t) => {
    const own = autogroupOf('self')
    const shells = [true, false].map((detached) => {
      const shell = spawn('sleep', ['600'], { detached })
      t.teardown(() => shell.kill())
      return shell.pid ?? 0
    })
    // Who isn't root may change one group in 100 ms.
    for (const pid of shells) while (!lowerSession(pid)) await sleep(20)
    t.match(autogroupOf(shells[0] ?? 0), { nice: 5 })
    t.strictSame(autogroupOf(shells[1] ?? 0), own, 'one in our own session leaves it as it is')
    t.equal(lowerSession(shells[0] ?? 0), true, 'asked again there is nothing left to do')
    t.equal(autogroupOf(2 ** 22 + 1), undefined)
  },
)

t.test('a process gives way with its session, and may be as any other again', { skip: WITHOUT_GROUPS }, async (t) => {
  const shell = spawn('sleep', ['600'], { detached: true })
  t.teardown(() => shell.kill())
  const pid = shell.pid ?? 0
  // Who isn't root may change one group in 100 ms.
  while (!lowerProcess(pid)) await sleep(20)
  t.match(autogroupOf(pid), { nice: 10 })
  t.equal(getPriority(pid), 10)
  if (!mayRaise()) return t.equal(restoreProcess(pid), false)
  while (!restoreProcess(pid)) await sleep(20)
  t.match(autogroupOf(pid), { nice: 0 })
  t.equal(getPriority(pid), 0)
})

t.test(
  'a loop that carries audio takes its session with it, and leaves it as it was',
  { skip: WITHOUT_GROUPS },
  async (t) => {
    const inSession = async (script: string): Promise<number[]> => {
      const shell = spawn('sh', ['-c', script, process.execPath, IN_GROUP], {
        detached: true,
        stdio: ['ignore', 'pipe', 'inherit'],
      })
      const lines = (await text(shell.stdout)).trim().split('\n')
      return lines.map((line) => Number(line.split(' ').at(-1)))
    }
    const raise = '"$0" --input-type=module -e "$1"'
    const after = 'cat /proc/self/autogroup'
    t.same(await inSession(`${raise}; ${after}`), [mayRaise() ? -5 : 0, 0])
    t.same(await inSession(`echo 3 >/proc/self/autogroup; ${raise}; ${after}`), [3, 3], 'one that was moved stays')
  },
)

/** Whether this process may raise what it started: root may, unless its container takes that away. */
function mayRaise(): boolean {
  const child = spawn('sleep', ['10'])
  try {
    setPriority(child.pid ?? 0, getPriority() - 1)
    return true
  } catch {
    return false
  } finally {
    child.kill()
  }
}
