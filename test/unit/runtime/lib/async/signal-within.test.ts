import { setTimeout as sleep } from 'node:timers/promises'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import t from 'tap'
import { signalWithin } from '../../../../../runtime/lib/async/signal-within.ts'

/** Resolves when the signal aborts. */
const aborted = (signal: AbortSignal) => new Promise((resolve) => signal.addEventListener('abort', resolve))

t.test('it aborts with the first of its signals, and with its reason', async (t) => {
  const [first, second] = [new AbortController(), new AbortController()]
  const signal = signalWithin(60_000, first.signal, second.signal)
  t.equal(signal.aborted, false)
  const end = aborted(signal)
  second.abort(new Error('gone'))
  first.abort(new Error('too late'))
  await end
  t.match(signal.reason, { message: 'gone' })
  t.match(signalWithin(60_000, second.signal).reason, { message: 'gone' }, 'also when it was aborted before')
})

t.test('it aborts when its time is over, with a TimeoutError', async (t) => {
  const signal = signalWithin(1, new AbortController().signal)
  // The timer keeps no process, nor this test, from ending.
  const alive = setInterval(() => {}, 1_000)
  await aborted(signal)
  clearInterval(alive)
  t.match(signal.reason, { name: 'TimeoutError', message: 'No end within 1 ms' })
})

t.test('whatever became of it, nothing keeps it once its time is over', async (t) => {
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc') as () => void
  const session = new AbortController()
  const begun = 300
  let collected = 0
  const registry = new FinalizationRegistry(() => collected++)
  const begin = (i: number): void => {
    const signal = signalWithin(5, session.signal)
    registry.register(signal, i)
    if (i % 3 === 0) signal.addEventListener('abort', () => {})
    if (i % 3 === 1) registry.register(AbortSignal.any([signal, session.signal]), i)
  }
  for (let i = 0; i < begun; i++) begin(i)
  const all = begun + begun / 3
  for (let round = 0; round < 500 && collected < all; round++) {
    await sleep(10)
    collect()
  }
  t.equal(collected, all)
})
