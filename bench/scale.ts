/**
 * `npm run bench -- scale [--seed=1]`: plays days of calls against the scaling rule of deploy/kubernetes and prints calls refused
 * and seats idle, beside rules that are thriftier and more generous. A simulation: no process is started.
 */
import { parseArgs } from 'node:util'
import { seeded } from '../test/support/phone/numbers.ts'
import { type DayOptions, playDay } from './scale/day.ts'
import type { ScalingRule } from './scale/rule.ts'

/** deploy/kubernetes/cluster and cluster-keda. */
export const SHIPPED_RULE: ScalingRule = {
  sessionsPerWorker: 14,
  leastWorkers: 2,
  mostWorkers: 50,
  everyS: 15,
  growShare: 1,
  growWorkers: 4,
  growEveryS: 15,
  shrinkAfterS: 600,
  shrinkShare: 0.1,
}

const RULES = { shipped: 14, thrifty: 18, generous: 10 } as const

const DAYS: Readonly<Record<string, Pick<DayOptions, 'busiestHourCalls' | 'burst'>>> = {
  'quiet service line': { busiestHourCalls: 240 },
  'busy service line': { busiestHourCalls: 6_000 },
  'with a campaign of 200 calls at ten': { busiestHourCalls: 3_000, burst: { atS: 36_000, calls: 200 } },
}

export async function run(args: readonly string[]): Promise<void> {
  const { values } = parseArgs({ args: [...args], options: { seed: { type: 'string', default: '1' } } })
  const table: Record<string, Record<string, string | number>> = {}
  for (const [day, load] of Object.entries(DAYS)) {
    for (const [name, sessionsPerWorker] of Object.entries(RULES)) {
      const rule = { ...SHIPPED_RULE, sessionsPerWorker }
      const played = playDay({
        ...load,
        rule,
        capacity: 20,
        startS: 20,
        waitS: 5,
        meanCallS: 150,
        random: seeded(Number(values.seed)),
      })
      process.stdout.write(`${JSON.stringify({ name: 'scale', day, rule: name, sessionsPerWorker, ...played })}\n`)
      table[`${day}, ${name} (${sessionsPerWorker} of 20)`] = {
        calls: played.calls,
        refused: played.refused,
        'refused %': ((100 * played.refused) / played.calls).toFixed(3),
        'wait p95 s': played.waitP95S,
        'seats idle %': (100 * played.idleShare).toFixed(1),
        'worker hours': Math.round(played.workerHours),
        'most workers': played.mostWorkers,
      }
    }
  }
  console.table(table)
}
