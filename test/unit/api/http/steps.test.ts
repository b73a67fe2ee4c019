import t from 'tap'
import { follow, type Listener, type Pending, type Steps } from '../../../../api/http/steps.ts'

/** Takes the steps to their end and gives what their listener is told. */
function told<T>(steps: Steps<T>): { done?: T; failed?: unknown } {
  const telling: { done?: T; failed?: unknown } = {}
  follow(steps, {
    done(result) {
      telling.done = result
    },
    failed(error) {
      telling.failed = error
    },
  })
  return telling
}

t.test('steps that wait for nothing are over at once', async (t) => {
  function* steps(): Steps<unknown[]> {
    return [yield 1, yield undefined, yield { not: 'a promise' }]
  }
  t.same(told(steps()), { done: [1, undefined, { not: 'a promise' }] })
})

t.test('steps go on when a promise is kept, and in the very call that tells what is pending', async (t) => {
  let listener: Listener<string> | undefined
  const pending: Pending<string> = (waiting) => {
    listener = waiting
  }
  function* steps(): Steps<string> {
    const first = (yield Promise.resolve('one')) as string
    const second = (yield pending) as string
    return `${first} ${second} ${yield 'three'}`
  }
  const telling = told(steps())
  t.same(telling, {})
  await new Promise(setImmediate)
  t.same(telling, {})
  listener?.done('two')
  t.same(telling, { done: 'one two three' })
})

t.test('a failure is thrown where it was waited for', async (t) => {
  const broken = new Error('broken')
  for (const failing of [
    () => Promise.reject(broken),
    (): Pending<never> => (listener) => listener.failed(broken),
    (): never => {
      throw broken
    },
  ]) {
    function* uncaught(): Steps<string> {
      yield failing()
      return 'not reached'
    }
    function* caught(): Steps<unknown[]> {
      try {
        yield failing()
      } catch (error) {
        return [error, yield 'goes on', yield Promise.resolve('and on')]
      }
      return []
    }
    const [one, other] = [told(uncaught()), told(caught())]
    await new Promise(setImmediate)
    t.equal(one.failed, broken)
    t.same(other, { done: [broken, 'goes on', 'and on'] })
  }
})
