import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import t from 'tap'
import { createLogger } from '../../../../runtime/process/log.ts'
import { type SupervisedOptions, supervise } from '../../../../runtime/process/supervisor.ts'

const log = createLogger({ level: 'silent', name: 'test' })

function node(script: string, rest: Partial<SupervisedOptions> = {}): SupervisedOptions {
  const stdio: ['ignore', 'pipe', 'pipe', 'ipc'] = ['ignore', 'pipe', 'pipe', 'ipc']
  return {
    name: 'Child',
    log,
    spawn: () => spawn(process.execPath, ['-e', script], { stdio }),
    ready: async (child, signal) => void (await once(child, 'message', { signal })),
    stopSignal: 'SIGTERM',
    ...rest,
  }
}

const SERVES = 'process.send(1); setInterval(() => {}, 1000)'

async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await sleep(10)
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}

t.test('a child that is killed runs again', async (t) => {
  const child = await supervise(node(SERVES))
  t.teardown(() => child.stop(5_000))
  const first = child.pid ?? 0
  process.kill(first, 'SIGKILL')
  await until(() => child.pid !== undefined && child.pid !== first)
  t.ok(isAlive(child.pid ?? 0))
})

t.test('a child that never gets ready is reported with its last words', async (t) => {
  await t.rejects(supervise(node('console.error("no such thing"); process.exit(3)', { firstStartAttempts: 2 })), {
    message: 'Child exited with code 3: no such thing',
  })
})

t.test('a program that does not exist is reported', async (t) => {
  const options = node('', { spawn: () => spawn('/nowhere/program'), firstStartAttempts: 1 })
  await t.rejects(supervise(options), /Child could not be run .*ENOENT/)
})

t.test('a first start that fails by chance is tried again', async (t) => {
  let starts = 0
  const child = await supervise(
    node('', {
      spawn: () =>
        spawn(process.execPath, ['-e', starts++ === 0 ? 'process.exit(1)' : SERVES], {
          stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
        }),
    }),
  )
  await child.stop(5_000)
  t.equal(starts, 2)
})

t.test('stopping ends the child and starts no other', async (t) => {
  let starts = 0
  const options = node(SERVES)
  const child = await supervise({
    ...options,
    spawn: () => {
      starts++
      return options.spawn()
    },
  })
  const pid = child.pid ?? 0
  await child.stop(5_000)
  t.notOk(isAlive(pid))
  t.equal(child.pid, undefined)
  t.equal(starts, 1)
})

t.test('a child deaf to its signal is killed after the grace', async (t) => {
  const child = await supervise(node(`process.on('SIGTERM', () => {}); ${SERVES}`))
  const pid = child.pid ?? 0
  await child.stop(100)
  t.notOk(isAlive(pid))
})

t.test('stopping while the child waits for its next start ends the waiting', async (t) => {
  const child = await supervise(node('process.send(1); setTimeout(() => process.exit(1), 10)'))
  await until(() => child.pid === undefined)
  await child.stop(5_000)
  t.equal(child.pid, undefined)
})
