import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { getPriority, setPriority } from 'node:os'
import { text } from 'node:stream/consumers'
import { setTimeout as sleep } from 'node:timers/promises'
import { Worker } from 'node:worker_threads'
import t from 'tap'
import { autogroupOf } from '../../runtime/autogroup.ts'
import { hurryThread, lowerServicePriority, lowerSession, lowerThreadLater } from '../../runtime/low-priority.ts'
import { withoutAutogroups } from '../support/without-autogroups.ts'

const THREAD = `
import { readFileSync, readlinkSync } from 'node:fs'
import { parentPort } from 'node:worker_threads'
import { lowerThreadPriority } from ${JSON.stringify(new URL('../../runtime/low-priority.ts', import.meta.url).href)}
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
    const thread = new Worker(new URL(`data:text/javascript,${encodeURIComponent(THREAD)}`))
    t.teardown(() => thread.terminate())
    const stat = await new Promise<string>((resolve, reject) => thread.on('message', resolve).on('error', reject))
    t.equal(niceOf(stat), Math.min(19, Math.max(0, before) + 10))
    t.equal(niceOf(readFileSync('/proc/thread-self/stat', 'utf8')), before, 'the loop itself stays')
  },
)

const SPINNING = `
import { readFileSync } from 'node:fs'
import { parentPort } from 'node:worker_threads'
import { beginAsEverybody } from ${JSON.stringify(new URL('../../runtime/low-priority.ts', import.meta.url).href)}
const stat = () => readFileSync('/proc/thread-self/stat', 'utf8')
const threadId = beginAsEverybody()
const begun = stat()
parentPort.postMessage({ threadId, begun })
parentPort.on('message', () => {
  while (stat().slice(stat().lastIndexOf(')') + 2).split(' ')[16] === ${JSON.stringify('BEGUN')});
  parentPort.postMessage({ after: stat() })
})
`

t.test(
  'a thread begins as any other and gives way once it has worked for long',
  { skip: process.platform !== 'linux' && 'threads have a priority of their own on Linux alone' },
  async (t) => {
    const before = Math.max(0, niceOf(readFileSync('/proc/thread-self/stat', 'utf8')))
    const program = SPINNING.replace('BEGUN', String(before))
    const thread = new Worker(new URL(`data:text/javascript,${encodeURIComponent(program)}`))
    t.teardown(() => thread.terminate())
    const told = async () => (await once(thread, 'message'))[0] as { threadId: number; begun: string; after: string }
    const { threadId, begun } = await told()
    t.equal(niceOf(begun), before)
    t.teardown(lowerThreadLater(threadId))
    thread.postMessage('work')
    t.equal(niceOf((await told()).after), Math.min(19, before + 10))
    const ofThread = () => niceOf(readFileSync(`/proc/self/task/${threadId}/stat`, 'utf8'))
    const lowered = ofThread()
    hurryThread(threadId)
    t.ok(mayRaise() ? ofThread() < before : ofThread() <= lowered, 'it goes before others once it is to end')
    t.doesNotThrow(lowerThreadLater(undefined), 'where threads have no ids')
    t.doesNotThrow(() => hurryThread(undefined))
    t.doesNotThrow(() => hurryThread(2 ** 22 + 1), 'one that is gone')
  },
)

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
import { raiseLoopPriority } from ${JSON.stringify(new URL('../../runtime/low-priority.ts', import.meta.url).href)}
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
