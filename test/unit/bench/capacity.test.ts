import t from 'tap'
import { capacityRow, capacityTable, type Used } from '../../../bench/capacity/row.ts'

const MIB = 2 ** 20
const USED: Used = {
  ...{ providers: 'A, B, C', calls: 10, seconds: 20 },
  // A worker of 5 % without a call, and 2 % more for each; an api node of 1 % and 0.5 %.
  ...{ workerCpuMs: 5_000, workerIdleCpuMs: 50, apiCpuMs: 1_200, apiIdleCpuMs: 10 },
  ...{ idleBytes: 200 * MIB, busyBytes: 240 * MIB },
}

t.test('a core and a GiB carry the calls that seven tenths of them have room for', async (t) => {
  t.strictSame(capacityRow(USED), {
    providers: 'A, B, C',
    ...{ workerPercentACall: 2, workerCallsACore: 32 },
    ...{ apiPercentACall: 0.5, apiCallsACore: 138 },
    ...{ idleMib: 200, mibACall: 4, callsAGib: 129 },
  })
  t.equal(
    capacityTable([capacityRow(USED)])
      .split('\n')
      .at(-1),
    '| A, B, C | 2 % | 32 | 4 MiB | 129 | 0.5 % | 138 |',
  )
})

t.test('a worker that needs a GiB for itself has no room for a call', async (t) => {
  t.equal(capacityRow({ ...USED, idleBytes: 1_024 * MIB, busyBytes: 1_064 * MIB }).callsAGib, 0)
})
