import { fork } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { test } from 'tap'
import { endSpawner, startProgram } from '../../../../../runtime/process/offload/spawner.ts'

const PATIENCE_MS = 60_000
const order = { program: '/bin/sh', args: [] as string[], variables: {}, pipes: 3, niceness: 0 } as const
const shell = (script: string) => startProgram({ ...order, args: ['-c', script] })

const isAlive = (pid: number): boolean => {
  try {
    // A process that ended and was not waited for is none.
    return !/\) Z /.test(readFileSync(`/proc/${pid}/stat`, 'utf8'))
  } catch {
    return false
  }
}

async function gone(pid: number): Promise<boolean> {
  for (const untilMs = performance.now() + PATIENCE_MS; performance.now() < untilMs; await sleep(50)) {
    if (!isAlive(pid)) return true
  }
  return false
}

/** A process whose command line has these words; NaN: there is none. */
function childOf(parent: number, words: string): number {
  const found = readdirSync('/proc').find((pid) => {
    try {
      const isIt = readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ').includes(words)
      return isIt && new RegExp(`\\) \\w ${parent} `).test(readFileSync(`/proc/${pid}/stat`, 'utf8'))
    } catch {
      return false
    }
  })
  return Number(found)
}

/** The process that starts programs for another one. */
const spawnerOf = (parent: number): number => childOf(parent, 'spawner-main.ts')

test('a program is started with its pipes, its environment and nothing else, and its end is told', async (t) => {
  const program = await startProgram({
    ...order,
    args: ['-c', 'read word; echo "$word $GIVEN $HOME"; exit 3'],
    variables: { GIVEN: 'g' },
  })
  const ended = once(program, 'exit')
  const [stdin, stdout] = program.pipes
  let said = ''
  stdout?.setEncoding('utf8').on('data', (text: string) => {
    said += text
  })
  stdin?.write('hello\n')
  t.same(await ended, [3, null])
  if (stdout?.closed === false) await once(stdout, 'close')
  t.equal(said, 'hello g \n')
  program.kill()
})

test('what can’t be started says why', async (t) => {
  await t.rejects(startProgram({ ...order, program: '/no/such/program' }), { message: /ENOENT/ })
  const after = await shell('exit 0')
  t.ok(after.pid > 0, 'and others can')
})

test('a program is ended when it is told to', async (t) => {
  const program = await shell('exec sleep 1000')
  const ended = once(program, 'exit')
  program.kill()
  t.same(await ended, [null, 'SIGKILL'])
})

test('when what starts them dies, what it started is ended, and the next start goes on', async (t) => {
  const program = await shell('exec sleep 1000')
  const ended = once(program, 'exit')
  process.kill(spawnerOf(process.pid), 'SIGKILL')
  t.same(await ended, [null, 'SIGKILL'])
  t.ok(await gone(program.pid))
  const next = await shell('exit 4')
  if (isAlive(next.pid)) t.match(await Promise.race([once(next, 'exit'), gone(next.pid)]), /4|true/)
  t.not(next.pid, program.pid, 'it was started')
})

test('a program doesn’t outlive its role, however that ends', async (t) => {
  const role = fork(join(import.meta.dirname, 'spawning-role.ts'), [], { execArgv: [], env: {} })
  const [pid] = (await once(role, 'message')) as [number]
  t.ok(isAlive(pid))
  role.kill('SIGKILL')
  t.ok(await gone(pid))
})

test('nor does what starts them, though its role died before it took what was handed to it', async (t) => {
  const role = fork(join(import.meta.dirname, 'spawning-role.ts'), ['deaf'], { execArgv: [], env: {} })
  t.teardown(() => void role.kill('SIGKILL'))
  const [pid] = (await once(role, 'message')) as [number]
  const spawner = spawnerOf(pid)
  t.ok(isAlive(spawner))
  let program = Number.NaN
  const untilMs = performance.now() + PATIENCE_MS
  while (Number.isNaN(program) && performance.now() < untilMs) {
    await sleep(50)
    program = childOf(spawner, 'sleep 1000')
  }
  t.ok(isAlive(program))
  role.kill('SIGKILL')
  t.ok(await gone(spawner))
  t.ok(await gone(program))
})

test('ended in order, it is gone with all it started, and the next start goes on', async (t) => {
  const program = await shell('exec sleep 1000')
  const ended = once(program, 'exit')
  const spawner = spawnerOf(process.pid)
  await endSpawner()
  t.notOk(isAlive(spawner), 'it is gone at once')
  t.same(await ended, [null, 'SIGKILL'])
  t.ok(await gone(program.pid))
  await endSpawner()
  const after = await shell('exit 0')
  t.ok(after.pid > 0)
  t.not(spawnerOf(process.pid), spawner)
})
