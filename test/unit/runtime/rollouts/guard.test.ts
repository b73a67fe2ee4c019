import t from 'tap'
import {
  boundaryAfter,
  type CallSample,
  judgeVersions,
  meanInterval,
  upperTail,
} from '../../../../runtime/rollouts/guard.ts'

/** Mulberry32: the same numbers in each run. */
function randomFrom(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let word = Math.imul(state ^ (state >>> 15), 1 | state)
    word = (word + Math.imul(word ^ (word >>> 7), 61 | word)) ^ word
    return ((word ^ (word >>> 14)) >>> 0) / 2 ** 32
  }
}

const normalOf = (random: () => number): number =>
  Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random())

interface Run {
  old: () => number
  fresh: () => number
  /** Of the new version. */
  weight: number
  calls: number
  worseIsHigher?: boolean
  plannedCalls?: number
}

/** After how many calls the guard stops; undefined: it doesn't. It looks after every call. */
function stopsAfter(random: () => number, run: Run): number | undefined {
  const { old, fresh, weight, calls, worseIsHigher = false, plannedCalls = 400 } = run
  const samples = { old: { calls: 0, sum: 0, sumOfSquares: 0 }, fresh: { calls: 0, sum: 0, sumOfSquares: 0 } }
  for (let n = 1; n <= calls; n++) {
    const [sample, value] = random() < weight ? [samples.fresh, fresh()] : [samples.old, old()]
    sample.calls++
    sample.sum += value
    sample.sumOfSquares += value * value
    if (judgeVersions(samples.old, samples.fresh, { worseIsHigher, minCalls: 20, plannedCalls }).stops) return n
  }
  return undefined
}

/** The share of 1,000 rollouts that are stopped. */
function stopped(t: { comment(text: string): void }, name: string, of: (random: () => number) => Run): number {
  const random = randomFrom(20_260_131)
  let count = 0
  for (let run = 0; run < 1_000; run++) if (stopsAfter(random, of(random)) !== undefined) count++
  t.comment(`${name}: ${count} of 1,000 stopped`)
  return count / 1_000
}

const share = (random: () => number, of: number) => () => (random() < of ? 1 : 0)

t.test('of 1,000 rollouts of a version that is as good, at most 5 % are stopped', async (t) => {
  for (const weight of [0.5, 0.2]) {
    for (const success of [0.9, 0.7, 0.5]) {
      for (const calls of [400, 1_600]) {
        const name = `success ${success}, weight ${weight}, ${calls} calls`
        const found = stopped(t, name, (random) => ({
          ...{ old: share(random, success), fresh: share(random, success), weight, calls },
        }))
        t.ok(found <= 0.05, `${name}: ${found}`)
      }
    }
  }
  const cost = (random: () => number) => () => Math.exp(normalOf(random) * 0.8) / 100
  const found = stopped(t, 'cost', (random) => ({
    ...{ old: cost(random), fresh: cost(random), weight: 0.5, calls: 1_600, worseIsHigher: true },
  }))
  t.ok(found <= 0.05, `cost: ${found}`)
})

t.test('of 1,000 rollouts whose success drops by ten points, at least 80 % are stopped before 400 calls', async (t) => {
  const found = stopped(t, '90 % to 80 %, half of 400 calls', (random) => ({
    ...{ old: share(random, 0.9), fresh: share(random, 0.8), weight: 0.5, calls: 400 },
  }))
  t.ok(found >= 0.8, `${found}`)
  const harder = stopped(t, '70 % to 60 %, 400 calls of each', (random) => ({
    ...{ old: share(random, 0.7), fresh: share(random, 0.6), weight: 0.5, calls: 800, plannedCalls: 800 },
  }))
  t.ok(harder >= 0.8, `${harder}`)
  const better = stopped(t, '80 % to 90 %', (random) => ({
    ...{ old: share(random, 0.8), fresh: share(random, 0.9), weight: 0.5, calls: 1_600 },
  }))
  t.ok(better < 0.001, 'a better version is not stopped')
})

t.test('the boundary falls with the calls, and never below what the whole error allows', async (t) => {
  t.ok(Math.abs(upperTail(1.959964) - 0.025) < 1e-6)
  const bounds = [50, 100, 200, 400].map((calls) => boundaryAfter(calls, 400))
  t.same(
    bounds.map((bound) => bound.toFixed(2)),
    ['5.81', '4.11', '2.90', '2.05'],
  )
  t.ok(boundaryAfter(401, 400) > 3.9, 'calls beyond the plan have what is left')
})

t.test('nothing is decided of few calls, or of calls that all came to the same', async (t) => {
  const of = (calls: number, sum: number): CallSample => ({ calls, sum, sumOfSquares: sum })
  const test = { worseIsHigher: false, minCalls: 50, plannedCalls: 400 }
  t.same(judgeVersions(of(49, 49), of(300, 0), test), { stops: false, z: null, boundary: null })
  t.same(judgeVersions(of(0, 0), of(0, 0), test), { stops: false, z: null, boundary: null })
  t.same(judgeVersions(of(100, 100), of(100, 100), test), { stops: false, z: null, boundary: null })
  t.ok(judgeVersions(of(100, 100), of(100, 0), test).stops, 'all of one succeeded and none of the other')
  t.same(meanInterval(of(0, 0)), { value: null, low: null, high: null })
})
