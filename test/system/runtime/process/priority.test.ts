import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { getPriority, setPriority } from 'node:os'
import { text } from 'node:stream/consumers'
import type { Worker } from 'node:worker_threads'
import t from 'tap'
import { endThread, startThread } from '../../../../runtime/process/offload/thread.ts'
import { systemIdOf } from '../../../../runtime/process/offload/thread-id.ts'
import { lower, restore, setPriorityBelowAudio } from '../../../../runtime/process/priority.ts'

const IMPORTS = `
import { readFileSync } from 'node:fs'
import { parentPort } from 'node:worker_threads'
import { noteThreadId } from ${JSON.stringify(new URL('../../../../runtime/process/offload/thread-id.ts', import.meta.url).href)}
import { lower, raise, restore } from ${JSON.stringify(new URL('../../../../runtime/process/priority.ts', import.meta.url).href)}
`
const THREAD = `${IMPORTS}
lower(noteThreadId())
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

const AS_LOOP = THREAD.replace(
  'lower(noteThreadId())',
  `const { setPriority } = await import('node:os')
setPriority(1)
raise(noteThreadId(), 0)`,
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

const SPINNING = `${IMPORTS}
const stat = () => readFileSync('/proc/thread-self/stat', 'utf8')
restore(noteThreadId())
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
    t.equal(lower(systemIdOf(thread)), false)
    const begun = await told()
    t.equal(niceOf(begun), before)
    t.equal(systemIdOf(thread), Number(begun.split(' ')[0]))
    const low = Math.min(19, before + 10)
    t.equal(lower(systemIdOf(thread)), true)
    thread.postMessage(low)
    t.equal(niceOf(await told()), low)
    t.equal(restore(systemIdOf(thread)), mayRaise(), 'which only some may undo')
    t.equal(niceOfThread(thread), mayRaise() ? before : low)
    const id = systemIdOf(thread)
    const ended = endThread(thread)
    const nice = niceWhileItRuns(id)
    if (nice !== undefined) t.ok(mayRaise() ? nice < before : nice <= low, 'it goes before others')
    await ended
    t.equal(systemIdOf(thread), undefined, 'and has no id once it is gone')
    await t.resolves(endThread(thread))
    const silent = startProgram('setInterval(() => {}, 1_000)')
    await once(silent, 'online')
    await t.resolves(endThread(silent), 'one that noted no id')
  },
)

t.test('each thread has an id of its own, those that threads start, too', async (t) => {
  const program = `
import { parentPort } from 'node:worker_threads'
import { startThread } from ${JSON.stringify(new URL('../../../../runtime/process/offload/thread.ts', import.meta.url).href)}
import { noteThreadId, systemIdOf } from ${JSON.stringify(new URL('../../../../runtime/process/offload/thread-id.ts', import.meta.url).href)}
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

/** Undefined: it has ended. */
function niceWhileItRuns(id: number | undefined): number | undefined {
  try {
    return niceOf(readFileSync(`/proc/self/task/${id}/stat`, 'utf8'))
  } catch {
    return undefined
  }
}

t.test(
  'a service gives way to the loop that started it, with all that it starts',
  { skip: process.platform !== 'linux' && 'reads /proc' },
  async (t) => {
    const before = niceOf(readFileSync('/proc/thread-self/stat', 'utf8'))
    const shell = spawn('sh', ['-c', 'read line; cat /proc/self/stat'], { stdio: ['pipe', 'pipe', 'inherit'] })
    t.equal(lower(shell.pid, 'service'), true)
    shell.stdin.end('go\n')
    const stat = await text(shell.stdout)
    t.equal(niceOf(stat), Math.min(19, Math.max(0, before) + 5))
    t.equal(lower(undefined, 'service'), false)
    t.doesNotThrow(() => lower(2 ** 22 + 1, 'service'))
  },
)

const RAISED = `
import { readFileSync } from 'node:fs'
import { raise } from ${JSON.stringify(new URL('../../../../runtime/process/priority.ts', import.meta.url).href)}
raise(process.pid)
process.stdout.write(readFileSync('/proc/thread-self/stat', 'utf8'))
`

t.test(
  'a loop that carries audio goes before other work, where it may',
  { skip: process.platform !== 'linux' && 'reads /proc' },
  async (t) => {
    const before = niceOf(readFileSync('/proc/thread-self/stat', 'utf8'))
    const child = spawn(process.execPath, ['--input-type=module', '-e', RAISED], {
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    const nice = niceOf(await text(child.stdout))
    t.equal(nice, mayRaise() ? Math.max(-20, before - 5) : before)
  },
)

t.test('a process gives way, and may be as any other again', { skip: process.platform === 'win32' }, async (t) => {
  const child = spawn('sleep', ['600'])
  t.teardown(() => child.kill())
  const pid = child.pid ?? 0
  const before = Math.max(0, getPriority())
  t.equal(lower(pid), true)
  t.equal(getPriority(pid), Math.min(19, before + 10))
  t.equal(restore(pid), mayRaise())
  if (mayRaise()) t.equal(getPriority(pid), before)
  setPriorityBelowAudio(pid)
  t.equal(getPriority(pid), mayRaise() ? Math.min(19, getPriority() + 5) : Math.min(19, before + 10))
})

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
