import fc from 'fast-check'
import t from 'tap'
import {
  afterTurns,
  type Demand,
  NO_LINE,
  shareOut,
  type Turns,
  tagOf,
} from '../../../../runtime/admission/share-out.ts'

const NO_TURNS: Turns = { workspaces: NO_LINE, units: new Map() }
const demand = (workspaceId: string, unit: string, wanted: number): Demand => ({ workspaceId, unit, wanted })

t.test('one row beside a million gets the next turn', (t) => {
  const million = demand('a', 'million', 1_000_000)
  const workspaces = afterTurns(NO_LINE, 'a', 500, ['a'])
  t.same(
    shareOut(2, [million, demand('b', 'one', 1)], { ...NO_TURNS, workspaces }),
    new Map([
      ['million', 1],
      ['one', 1],
    ]),
  )
  const later = afterTurns(workspaces, 'a', 1, ['a', 'b'])
  t.same(shareOut(1, [million, demand('b', 'one', 1)], { ...NO_TURNS, workspaces: later }), new Map([['one', 1]]))
  t.end()
})

t.test('what a workspace may not have goes to the others', (t) => {
  const demands = [demand('a', 'x', 10), demand('b', 'y', 10)]
  t.same(shareOut(8, demands, NO_TURNS, new Map([['a', 0]])), new Map([['y', 8]]))
  t.same(
    shareOut(8, demands, NO_TURNS, new Map([['a', 1]])),
    new Map([
      ['x', 1],
      ['y', 7],
    ]),
  )
  t.end()
})

t.test('units of one workspace share what it gets', (t) => {
  const demands = [demand('a', 'x', 100), demand('a', 'y', 100), demand('b', 'z', 100)]
  t.same(
    shareOut(8, demands, NO_TURNS),
    new Map([
      ['x', 2],
      ['z', 4],
      ['y', 2],
    ]),
  )
  t.end()
})

t.test('turns are not saved up: who was away stands where the line is', (t) => {
  let line = afterTurns(NO_LINE, 'idle', 1, ['idle', 'busy'])
  for (let i = 0; i < 100; i++) line = afterTurns(line, 'busy', 10, ['busy'])
  t.equal(tagOf(line, 'busy') - tagOf(line, 'idle'), 0)
  t.equal(line.tags.size, 0)
  t.end()
})

t.test('who waits is not passed over because another took many turns at once', (t) => {
  const line = afterTurns(NO_LINE, 'a', 100, ['a', 'b'])
  t.equal(tagOf(line, 'a') - tagOf(line, 'b'), 100)
  t.end()
})

t.test('all of the room is used, none gets more than wanted, and none that wants more is two turns behind', (t) => {
  const arbitrary = fc.array(fc.record({ of: fc.nat({ max: 3 }), wanted: fc.nat({ max: 9 }) }), { maxLength: 8 })
  fc.assert(
    fc.property(arbitrary, fc.nat({ max: 40 }), (wishes, room) => {
      const demands = wishes.map(({ of, wanted }, i) => demand(`w${of}`, `u${i}`, wanted))
      const shares = shareOut(room, demands, NO_TURNS)
      const given = [...shares.values()].reduce((sum, one) => sum + one, 0)
      const wanted = demands.reduce((sum, one) => sum + one.wanted, 0)
      if (given !== Math.min(room, wanted)) throw new Error(`gave ${given} of ${room}`)
      const sums = new Map<string, { got: number; wanted: number }>()
      for (const { workspaceId, unit, wanted } of demands) {
        const sum = sums.get(workspaceId) ?? { got: 0, wanted: 0 }
        sum.got += shares.get(unit) ?? 0
        sum.wanted += wanted
        sums.set(workspaceId, sum)
        if ((shares.get(unit) ?? 0) > wanted) throw new Error(`${unit} got more than it wanted`)
      }
      const most = Math.max(0, ...[...sums.values()].map(({ got }) => got))
      for (const { got, wanted } of sums.values()) {
        if (got < wanted && got < most - 1) throw new Error(`${got} beside ${most}`)
      }
    }),
  )
  t.end()
})
