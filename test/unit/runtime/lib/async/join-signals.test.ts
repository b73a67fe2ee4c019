import { getEventListeners } from 'node:events'
import { setImmediate as turn } from 'node:timers/promises'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { test } from 'tap'
import { joinSignals } from '../../../../../runtime/lib/async/join-signals.ts'

setFlagsFromString('--expose-gc')
const collect = runInNewContext('gc') as () => void

test('a joined signal aborts with the first of both, for its reason', async (t) => {
  for (const first of ['lasting', 'own'] as const) {
    const signals = { lasting: new AbortController(), own: new AbortController() }
    const joined = joinSignals(signals.lasting.signal, signals.own.signal)
    t.notOk(joined.aborted)
    signals[first].abort(first)
    signals[first === 'own' ? 'lasting' : 'own'].abort('later')
    t.equal(joined.reason, first)
    t.equal(joinSignals(signals.lasting.signal, signals.own.signal).aborted, true, 'one of them was aborted before')
  }
})

test('a signal of the process keeps nothing of the requests that are over', async (t) => {
  const { signal } = new AbortController()
  const kept = new AbortController()
  const ofKept = joinSignals(signal, kept.signal)
  for (let i = 0; i < 1_000; i++) joinSignals(signal, new AbortController().signal)
  for (let tries = 0; tries < 100 && getEventListeners(signal, 'abort').length > 1; tries++) {
    collect()
    await turn()
  }
  t.equal(getEventListeners(signal, 'abort').length, 1, 'the one that is under way')
  kept.abort('over')
  t.equal(getEventListeners(signal, 'abort').length, 0)
  t.equal(ofKept.reason, 'over')
})
