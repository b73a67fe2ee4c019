import fc from 'fast-check'
import t from 'tap'
import { Breakers, CircuitBreaker } from '../../../../../runtime/conversation/providers/breaker.ts'

t.test('it opens after three failures within half a minute, not after three in an hour', async (t) => {
  const slow = new CircuitBreaker()
  for (const atMs of [0, 40_000, 80_000, 120_000]) slow.failed('transient', atMs)
  t.ok(slow.allows(120_001))
  const quick = new CircuitBreaker()
  for (const atMs of [0, 1_000, 2_000]) {
    t.ok(quick.allows(atMs))
    quick.failed('transient', atMs)
  }
  t.equal(quick.state(2_001), 'open')
  t.notOk(quick.allows(2_001))
})

t.test('after its rest one request tries, and what becomes of it decides', async (t) => {
  const breaker = new CircuitBreaker()
  for (let i = 0; i < 3; i++) breaker.failed('rate_limit', 0)
  t.notOk(breaker.allows(9_999))
  t.ok(breaker.allows(10_000))
  breaker.began(10_000)
  t.notOk(breaker.allows(10_001), 'one trial at once')
  breaker.failed('transient', 10_500)
  t.notOk(breaker.allows(30_000), 'a trial that failed doubles the rest')
  t.ok(breaker.allows(30_500))
  breaker.began(30_500)
  breaker.succeeded()
  t.equal(breaker.state(30_501), 'closed')
  for (let i = 0; i < 3; i++) breaker.failed('transient', 40_000)
  t.ok(breaker.allows(50_000), 'the next rest is as short as the first')
})

t.test('a refused key opens it at once, a bad request never', async (t) => {
  const breaker = new CircuitBreaker()
  for (let i = 0; i < 10; i++) breaker.failed('bad_request', 0)
  t.ok(breaker.allows(0))
  breaker.failed('authentication', 0)
  t.notOk(breaker.allows(59_000))
  t.ok(breaker.allows(60_000))
})

t.test('whatever happens, it lets a trial through again within the longest rest', async (t) => {
  const event = fc.tuple(fc.constantFrom('fail', 'deny', 'began', 'ok'), fc.integer({ min: 0, max: 60_000 }))
  const trialComes = () =>
    fc.assert(
      fc.property(fc.array(event, { maxLength: 60 }), (events) => {
        const breaker = new CircuitBreaker()
        let nowMs = 0
        for (const [what, afterMs] of events) {
          nowMs += afterMs
          if (what === 'fail') breaker.failed('transient', nowMs)
          else if (what === 'deny') breaker.failed('quota', nowMs)
          else if (what === 'began') breaker.began(nowMs)
          else breaker.succeeded()
        }
        return breaker.allows(nowMs + 120_000)
      }),
    )
  t.doesNotThrow(trialComes)
})

t.test('the sessions of a process share what they know of a provider and model', async (t) => {
  const breakers = new Breakers()
  t.equal(breakers.of('llm', 'openai', 'a'), breakers.of('llm', 'openai', 'a'))
  t.not(breakers.of('llm', 'openai', 'a'), breakers.of('llm', 'openai', 'b'))
  for (let i = 0; i < 1_100; i++) breakers.of('llm', 'openai', `m${i}`)
  t.ok(breakers.of('llm', 'openai', 'm1099').allows(0))
})
