import { once } from 'node:events'
import type { Worker } from 'node:worker_threads'
import t from 'tap'
import { startThread } from '../../runtime/thread.ts'
import { WarmThreads } from '../../runtime/warm-threads.ts'

const LOW_PRIORITY = JSON.stringify(new URL('../../runtime/low-priority.ts', import.meta.url).href)
const THREAD = `
import { readFileSync } from 'node:fs'
import { parentPort } from 'node:worker_threads'
import { beginAsEverybody } from ${LOW_PRIORITY}
const nice = () => Number(readFileSync('/proc/thread-self/stat', 'utf8').split(') ')[1].split(' ')[16])
parentPort.on('message', (work) => {
  const before = nice()
  while (work === 'long' && nice() === before);
  if (work === 'hoard') globalThis.hoard = Buffer.alloc(160 * 1024 * 1024)
  if (work === 'throw') throw new Error('at work')
  parentPort.postMessage({ type: 'done', before, after: nice() })
})
beginAsEverybody()
`
interface Done {
  type: 'done'
  before: number
  after: number
}

t.test(
  'threads stay for the next work',
  { skip: process.platform !== 'linux' && 'threads have a priority of their own on Linux alone' },
  async (t) => {
    const started: Worker[] = []
    const start = (): Worker => {
      const worker = startThread(new URL(`data:text/javascript,${encodeURIComponent(THREAD)}`), {})
      started.push(worker)
      return worker
    }
    t.teardown(() => Promise.all(started.map((worker) => worker.terminate())))
    const poolOf = (mostWarm: number) => {
      const threads = new WarmThreads<Done>({ start, mostWarm })
      return async (work: string, wasDone = true) => {
        const { promise, resolve, reject } = Promise.withResolvers<Done>()
        const exit = () => reject(new Error('It ended'))
        const held = threads.hold({ message: resolve, error: reject, exit })
        held.worker.postMessage(work)
        const done = await promise.finally(() => held.release(wasDone))
        return { done, worker: held.worker }
      }
    }

    const crowded = poolOf(3)
    const alone = await crowded('short')
    t.equal((await crowded('short')).worker, alone.worker, 'one after the other')
    t.equal(started.length, 1)
    const both = await Promise.all([crowded('short'), crowded('short')])
    t.not(both[0]?.worker, both[1]?.worker, 'each for one holder alone')
    t.equal(started.length, 3, 'and one more is made ready beside two that work')
    await Promise.all([crowded('short'), crowded('short'), crowded('short')])
    t.equal(started.length, 3, 'they are as many as may wait')

    const perform = poolOf(1)
    const first = await perform('short')
    const long = await perform('long')
    t.ok(long.done.after > long.done.before, 'long work gives way')
    const after = await perform('short')
    t.equal(after.done.before, first.done.before, 'the work after it does not')

    const gone = once(after.worker, 'exit')
    t.equal((await perform('short', false)).worker, after.worker)
    await t.resolves(gone, 'one whose work was not done is ended')
    const hoarding = await perform('hoard')
    t.not((await perform('short')).worker, hoarding.worker, 'and one that left much in memory')
    await t.rejects(perform('throw'), { message: 'at work' })
    t.match((await perform('short')).done, { type: 'done' }, 'and another is there for the next')
    const dying = await perform('short')
    const died = once(dying.worker, 'exit')
    await dying.worker.terminate()
    await died
    t.not((await perform('short')).worker, dying.worker, 'nor is work given to one that ended as it waited')
  },
)
