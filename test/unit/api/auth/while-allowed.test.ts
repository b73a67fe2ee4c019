import t from 'tap'
import { whileAllowed } from '../../../../api/auth/while-allowed.ts'
import type { ErrorCode } from '../../../../runtime/lib/errors.ts'

function guarded(pieces: AsyncIterable<number>) {
  let withdraw: (code: ErrorCode) => void = () => undefined
  let watching = 0
  const stream = whileAllowed(pieces, (withdrawn) => {
    withdraw = withdrawn
    watching++
    return () => watching--
  })
  const iterator = stream[Symbol.asyncIterator]()
  return { iterator, watching: () => watching, withdraw: (code: ErrorCode) => withdraw(code) }
}

async function* three() {
  yield* [1, 2, 3]
}

t.test('a stream comes whole while the right stands, and is then watched no more', async (t) => {
  const { iterator, watching } = guarded(three())
  const got: number[] = []
  for (let next = await iterator.next(); !next.done; next = await iterator.next()) got.push(next.value)
  t.same(got, [1, 2, 3])
  t.equal(watching(), 0)
})

t.test('it fails between two pieces and while one is waited for', async (t) => {
  const between = guarded(three())
  await between.iterator.next()
  between.withdraw('not_a_member')
  await t.rejects(between.iterator.next(), { code: 'not_a_member' })
  t.equal(between.watching(), 0)

  const waiting = guarded(
    (async function* () {
      yield 1
      await new Promise(() => undefined)
    })(),
  )
  await waiting.iterator.next()
  const next = waiting.iterator.next()
  waiting.withdraw('invalid_token')
  await t.rejects(next, { code: 'invalid_token' })
})

t.test('one that nobody reads is never watched, and its source is closed', async (t) => {
  let closed = false
  const source: AsyncIterable<number> = {
    [Symbol.asyncIterator]: () => ({
      next: async () => ({ done: true, value: undefined }),
      async return() {
        closed = true
        return { done: true, value: undefined }
      },
    }),
  }
  const { iterator, watching } = guarded(source)
  await iterator.return?.()
  t.equal(watching(), 0)
  t.ok(closed)
})
