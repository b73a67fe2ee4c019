import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import { parseAllDocuments } from 'yaml'
import { playDay } from '../../../../bench/scale/day.ts'
import { Scaler } from '../../../../bench/scale/rule.ts'
import { SHIPPED_RULE } from '../../../../bench/scale.ts'
import { seeded } from '../../../support/phone/numbers.ts'

const usual = { rule: SHIPPED_RULE, capacity: 20, startS: 20, waitS: 5, meanCallS: 150 }

t.test('the rule that is simulated is the one that is shipped', async (t) => {
  const path = join(import.meta.dirname, '../../../../deploy/kubernetes/cluster/scaling.yaml')
  const [voice] = parseAllDocuments(await readFile(path, 'utf8')).map((document) => document.toJS())
  const { minReplicas, maxReplicas, metrics, behavior } = voice.spec
  t.equal(metrics[0].pods.target.averageValue, String(SHIPPED_RULE.sessionsPerWorker))
  t.same([minReplicas, maxReplicas], [SHIPPED_RULE.leastWorkers, SHIPPED_RULE.mostWorkers])
  const [share, number] = behavior.scaleUp.policies
  t.same([share.value / 100, number.value], [SHIPPED_RULE.growShare, SHIPPED_RULE.growWorkers])
  t.same([share.periodSeconds, number.periodSeconds], [SHIPPED_RULE.growEveryS, SHIPPED_RULE.growEveryS])
  t.equal(behavior.scaleDown.stabilizationWindowSeconds, SHIPPED_RULE.shrinkAfterS)
  t.equal(behavior.scaleDown.policies[0].value / 100, SHIPPED_RULE.shrinkShare)
})

t.test('workers come as soon as they are needed, and go slowly', async (t) => {
  const scaler = new Scaler(SHIPPED_RULE)
  t.equal(scaler.look(0, 2, 10), 2, 'never less than the least')
  t.equal(scaler.look(15, 2, 100), 6, 'four at once')
  t.equal(scaler.look(30, 6, 100), 8, 'then as many as are needed')
  t.equal(scaler.look(45, 8, 105), 8, 'a little more is no reason')
  t.equal(scaler.look(60, 8, 0), 8, 'what was needed lately stays')
  t.equal(scaler.look(700, 8, 0), 7, 'then a tenth a minute goes')
  t.equal(scaler.look(10_000, 50, 5_000), 50, 'never more than the most')
})

t.test('a day is the same with the same seed, and nobody is refused on a usual one', async (t) => {
  const day = () => playDay({ ...usual, busiestHourCalls: 1_200, random: seeded(7) })
  const played = day()
  t.same(played, day())
  t.ok(played.calls > 10_000, `${played.calls} calls`)
  t.equal(played.refused, 0)
  t.ok(played.idleShare > 0.2 && played.idleShare < 0.8, `${played.idleShare} idle`)
})

t.test('calls that find no seat in time are refused, and counted', async (t) => {
  const rule = { ...SHIPPED_RULE, mostWorkers: 2 }
  const burst = { atS: 36_000, calls: 200 }
  const played = playDay({ ...usual, rule, busiestHourCalls: 60, burst, random: seeded(7) })
  t.ok(played.refused > 140 && played.refused < 200, `${played.refused} refused`)
  t.equal(played.mostWorkers, 2)
})
