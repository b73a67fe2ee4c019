import t from 'tap'
import { lineFaults } from '../../../../../runtime/media/line/line-faults.ts'

function seeded(): () => number {
  let state = 1
  return () => {
    state = (state * 48_271) % 2_147_483_647
    return state / 2_147_483_647
  }
}

t.test('a line without faults passes everything at once and in order', (t) => {
  const pass = lineFaults({ loss: 0, jitterMs: 0 }, seeded())
  const came: number[] = []
  for (let i = 0; i < 100; i++) pass(() => came.push(i))
  t.same(
    came,
    Array.from({ length: 100 }, (_, i) => i),
  )
  t.end()
})

t.test('a line loses its share', (t) => {
  const pass = lineFaults({ loss: 0.02, jitterMs: 0 }, seeded())
  let came = 0
  for (let i = 0; i < 10_000; i++) pass(() => came++)
  t.ok(Math.abs(came - 9_800) < 60, `${came} of 10,000`)
  t.end()
})

t.test('late packets overtake each other, and all arrive', async (t) => {
  const pass = lineFaults({ loss: 0, jitterMs: 30 }, seeded())
  const came: number[] = []
  const all = Promise.withResolvers<void>()
  const alive = setInterval(() => undefined, 1_000)
  for (let i = 0; i < 50; i++)
    pass(() => {
      came.push(i)
      if (came.length === 50) all.resolve()
    })
  t.equal(came.length, 0)
  await all.promise
  clearInterval(alive)
  t.not(came.join(), came.toSorted((a, b) => a - b).join())
})
