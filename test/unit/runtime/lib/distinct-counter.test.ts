import fc from 'fast-check'
import t from 'tap'
import { createDistinctCounter } from '../../../../runtime/lib/distinct-counter.ts'

t.test('counts what a set would hold, whatever the numbers', async () => {
  const edge = fc.constantFrom(0, 1, 2 ** 32 - 1, 2 ** 32, 2 ** 32 + 1, 2 ** 33, 999_999_999_999_999)
  const number = fc.oneof(edge, fc.integer({ min: 14150000000, max: 14150000300 }))
  fc.assert(
    fc.property(fc.array(number, { maxLength: 400 }), (numbers) => {
      const counter = createDistinctCounter()
      for (const one of numbers) counter.add(one)
      const size = new Set(numbers).size
      return counter.total === numbers.length && counter.distinct() === size && counter.distinct() === size
    }),
  )
})
