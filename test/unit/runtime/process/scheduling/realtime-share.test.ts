import t from 'tap'
import { RealtimeShare } from '../../../../../runtime/process/scheduling/realtime-share.ts'

/** Looks once a second at a thread that takes so much of a core each time; what it may be after each. */
function looks(share: RealtimeShare, shares: readonly number[], fromS = 0): string {
  let usedMs = 0
  return shares
    .map((one, i) => {
      usedMs += one * 1_000
      return share.look((fromS + i) * 1_000, usedMs)[0]
    })
    .join('')
}
const times = (n: number, share: number): number[] => Array.from({ length: n }, () => share)

t.test('a loop keeps real time through bursts, and whatever it takes below nearly all of a core', async (t) => {
  t.equal(looks(new RealtimeShare(2), times(20, 0.85)), 'r'.repeat(20))
  t.equal(looks(new RealtimeShare(2), [0, 1, 1, 0.5, 1, 1, 0.5]), 'r'.repeat(7))
})

t.test('a loop that spins is normal for ten seconds, then for twenty', async (t) => {
  t.equal(looks(new RealtimeShare(2), times(40, 1)), `rrr${'n'.repeat(10)}rrr${'n'.repeat(20)}rrrn`)
})

t.test('on an only core others keep half', async (t) => {
  t.equal(looks(new RealtimeShare(1), times(6, 0.6)), 'rrrnnn')
  t.equal(looks(new RealtimeShare(1), times(6, 0.45)), 'rrrrrr')
})

t.test('what was long ago is forgiven', async (t) => {
  const share = new RealtimeShare(2)
  looks(share, times(13, 1))
  looks(share, times(400, 0.1), 100)
  t.equal(looks(share, times(15, 1), 600), `rrr${'n'.repeat(10)}rr`)
})

t.test('a clock that stands still decides nothing', async (t) => {
  const share = new RealtimeShare(2)
  t.equal(share.look(0, 0), 'realtime')
  t.equal(share.look(0, 5_000), 'realtime')
})
