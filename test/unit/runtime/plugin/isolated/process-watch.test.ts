import { test } from 'tap'
import { ProcessWatch, type WatchAction } from '../../../../../runtime/plugin/isolated/process-watch.ts'

const MIB = 2 ** 20

/** What is said of a process that uses so much of a core, looked at ten times a second. */
function verdicts(shares: readonly number[], { beats = true, memoryBytes = MIB } = {}): WatchAction[] {
  const watch = new ProcessWatch(512 * MIB, 0)
  const said: WatchAction[] = []
  let cpuMs = 0
  for (const [n, share] of shares.entries()) {
    const nowMs = (n + 1) * 100
    cpuMs += share * 100
    if (beats) watch.beat(nowMs)
    const verdict = watch.look(nowMs, { memoryBytes, cpuMs }, true)
    if (verdict !== undefined) said.push(verdict)
  }
  return said
}

const looks = (seconds: number, share: number): number[] => Array.from({ length: seconds * 10 }, () => share)

test('one that takes most of a core gives way, until it has been modest for a while', async (t) => {
  t.same(verdicts(looks(10, 0.2)), [])
  t.same(verdicts(looks(1, 0.9)), [{ yields: true }])
  t.same(verdicts([...looks(1, 0.9), ...looks(4, 0.1)]), [{ yields: true }], 'not yet')
  t.same(verdicts([...looks(1, 0.9), ...looks(7, 0.1)]), [{ yields: true }, { yields: false }])
  t.same(verdicts([...looks(1, 0.9), ...looks(3, 0.1), ...looks(1, 0.5), ...looks(3, 0.1)]), [{ yields: true }])
})

test('a short burst is no reason', async (t) => {
  t.same(verdicts([0.1, 0.1, 1, 0.1, 0.1, 0.1, 0.1, 0.1]), [])
})

test('one that is busy and answers nothing is ended; one that gets no turn has longer', async (t) => {
  const [yielding, ended] = verdicts(looks(3, 1), { beats: false })
  t.same(yielding, { yields: true })
  t.match(ended, { end: /did not answer for 2\d00 ms/ })
  t.same(verdicts(looks(14, 0.01), { beats: false }), [])
  t.match(verdicts(looks(16, 0.01), { beats: false })[0], { end: /did not answer for 15\d00 ms/ })
})

test('one that takes too much memory is ended', async (t) => {
  t.match(verdicts([0.1], { memoryBytes: 600 * MIB }), [{ end: 'it took 600 MiB of memory' }])
})
