import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync, readFileSync } from 'node:fs'
import { createInterface } from 'node:readline'
import t from 'tap'
import { diagnoseAudio } from '../../../../api/realtime/audio-diagnosis.ts'
import type { LoopScheduling } from '../../../../runtime/process/realtime.ts'
import type { Teardown } from '../../../support/instance/services.ts'
import { NORMAL, policyOf, policyWhen, priorityOf, REALTIME, withoutRealtime } from '../../../support/world/realtime.ts'

const REALTIME_MODULE = new URL('../../../../runtime/process/realtime.ts', import.meta.url).href
const PROGRAM = `
import { spawn } from 'node:child_process'
import { stat } from 'node:fs/promises'
import { createInterface } from 'node:readline'
import { Worker } from 'node:worker_threads'
import { engineThreads, loopScheduling, runInRealtimeToo, runLoopInRealtime } from ${JSON.stringify(REALTIME_MODULE)}
const say = (what) => process.stdout.write(JSON.stringify(what) + '\\n')
const logged = (level) => (fields, text) => say({ level, text, ...fields })
const helpers = engineThreads()
const log = { info: logged('info'), debug: logged('debug'), warn: logged('warn') }
// They end with this process, however it ends.
const start = () => spawn('/bin/cat', { stdio: ['pipe', 'ignore', 'ignore'] })
const early = start()
const forgotten = start()
runInRealtimeToo(early.pid, 1)
runInRealtimeToo(forgotten.pid, 1)()
// What a role does as it starts uses libuv's pool.
await stat('/')
runLoopInRealtime(log, 4, helpers).then(() => {
  const late = start()
  runInRealtimeToo(late.pid, 1)
  say({ late: late.pid })
})
createInterface({ input: process.stdin }).on('line', (asked) => {
  if (asked === 'standing') say({ standing: loopScheduling() })
  if (asked === 'start') {
    const child = start()
    const program = "require('node:worker_threads').parentPort.postMessage(require('node:fs').readFileSync('/proc/thread-self/stat', 'latin1'))"
    new Worker(program, { eval: true, execArgv: [] }).on('message', (stat) => say({ early: early.pid, forgotten: forgotten.pid, child: child.pid, helpers, stat }))
  }
}).on('close', () => process.exit())
`

interface Told {
  level?: string
  text?: string
  reason?: string
  pid?: number
  standing?: LoopScheduling
  early?: number
  forgotten?: number
  child?: number
  helpers?: number[]
  stat?: string
  late?: number
}

/** Threads of libuv's pool in a process. */
function poolOf(pid: number): number[] {
  const ids = readdirSync(`/proc/${pid}/task`).map(Number)
  return ids.filter((id) => readFileSync(`/proc/${pid}/task/${id}/comm`, 'latin1') === 'libuv-worker\n')
}

/** A process whose loop is to run in real time, and what it tells next. */
function startLoop(t: Teardown, path = process.env.PATH ?? '') {
  const child: ChildProcess = spawn(process.execPath, ['--input-type=module', '-e', PROGRAM], {
    stdio: ['pipe', 'pipe', 'inherit'],
    env: { PATH: path },
  })
  t.teardown(async () => {
    child.kill('SIGKILL')
    if (child.exitCode === null && child.signalCode === null) await once(child, 'exit')
  })
  const lines = createInterface({ input: child.stdout! })[Symbol.asyncIterator]()
  const told = async (wanted: (told: Told) => boolean): Promise<Told> => {
    for (;;) {
      const { value, done } = await lines.next()
      if (done) throw new Error('It ended')
      const one = JSON.parse(value) as Told
      if (wanted(one)) return one
    }
  }
  return { pid: child.pid ?? 0, ask: (what: string) => child.stdin!.write(`${what}\n`), told }
}

const refused = await withoutRealtime()

t.test('a loop that carries audio runs in real time; what it starts does not', { skip: refused }, async (t) => {
  const loop = startLoop(t)
  t.equal(await policyWhen(loop.pid, REALTIME), REALTIME)
  loop.ask('start')
  const {
    early = 0,
    forgotten = 0,
    child = 0,
    helpers = [],
    stat = '',
  } = await loop.told(({ stat }) => stat !== undefined)
  t.equal(await policyOf(child), NORMAL, 'a process')
  t.ok(helpers.length > 0)
  for (const id of helpers) {
    t.equal(await policyWhen(id, REALTIME), REALTIME, 'a thread it waits for while garbage is collected does, too')
  }
  t.equal(Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[38]), NORMAL, 'a thread')
  t.equal(await policyWhen(early, REALTIME), REALTIME, 'one that carries its audio does, though it was named before')
  t.equal(await policyOf(forgotten), NORMAL, 'one that was said to be gone does not')
  loop.ask('standing')
  const { standing } = await loop.told(({ standing }) => standing !== undefined)
  t.match(standing, { scheduling: 'realtime' })
  t.match(diagnoseAudio(standing!, 'true'), [{ ok: true, text: /runs in real time/ }, { ok: true }])
})

t.test('a loop waits for no turn of those it hands files and names over to', { skip: refused }, async (t) => {
  const loop = startLoop(t)
  const { late = 0 } = await loop.told(({ late }) => late !== undefined)
  const pool = poolOf(loop.pid)
  t.ok(pool.length > 0)
  for (const id of pool) {
    t.equal(await policyOf(id), REALTIME)
    t.equal(await priorityOf(id), await priorityOf(loop.pid), 'which no other process’s helpers keep from their turn')
  }
  t.equal(await policyWhen(late, REALTIME), REALTIME, 'a process that is named later runs in real time at once')
  t.equal(await priorityOf(late), 1)
})

t.test('the doctor tells of a loop whose scheduling somebody changed', (t) => {
  t.match(diagnoseAudio({ scheduling: 'normal' }, 'true'), [
    process.platform === 'linux'
      ? { ok: false, text: /does not run in real time: .* restart this node/ }
      : { ok: true },
    { ok: true },
  ])
  t.end()
})

t.test(
  'where it can not be had the log says so once, and what to do',
  { skip: process.platform !== 'linux' },
  async (t) => {
    const loop = startLoop(t, '/nowhere')
    const { reason, text } = await loop.told(({ level, reason }) => level === 'info' && reason !== undefined)
    t.equal(reason, 'there is no chrt (Debian: util-linux)')
    t.match(text, /LimitRTPRIO=4/)
    t.equal(await policyOf(loop.pid), await policyOf('thread-self'))
    loop.ask('standing')
    const { standing } = await loop.told(({ standing, level }) => standing !== undefined || level === 'info')
    t.match(standing, { scheduling: 'normal', refused: reason })
    t.match(diagnoseAudio(standing!, 'true'), [{ ok: false, text: /there is no chrt .*LimitRTPRIO=4/ }, { ok: true }])
    t.match(diagnoseAudio(standing!, 'nice'), [{ ok: true, text: /^PATCHBAY_AUDIO_FIRST=nice keeps/ }, { ok: true }])
  },
)
