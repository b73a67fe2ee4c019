import { pino } from 'pino'
import t from 'tap'
import { loadCallingRules } from '../../../../runtime/dialing/rules.ts'
import { shippedPlaces } from '../../../../runtime/dialing/zones.ts'
import { endCall } from '../../../../store/calls/write-calls.ts'
import { campaignById } from '../../../../store/campaigns/campaigns.ts'
import { createRedis } from '../../../../store/redis/client.ts'
import { settleCampaign } from '../../../../workers/dialer/settle.ts'
import { campaignStatus } from '../../../../workers/dialer/status.ts'
import { testRedis } from '../../../support/instance/services.ts'
import { campaignWorld } from '../../../support/world/campaign-world.ts'

const LEGS = 500
/** Within this time they all end. */
const SPAN_MS = 60_000
const ASKED_AFTER_MS = 200
const START_MS = Date.parse('2026-03-02T17:00:00Z')
const ENDS = [
  { status: 'completed', endReason: 'caller_hangup', disposition: 'hung_up' },
  { status: 'no_answer', endReason: 'no_answer', disposition: 'no_answer' },
  { status: 'busy', endReason: 'busy', disposition: 'busy' },
] as const

/** Numbers below 1, the same in each run. */
function* chance(seed: number): Generator<number, never> {
  for (let state = seed; ; ) {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648
    yield state / 2_147_483_648
  }
}

for (const interval of [2, 15]) {
  t.test(`a status asked for 200 ms after a leg’s end never counts it, with ticks of ${interval} s`, async (t) => {
    const world = await campaignWorld(t)
    const redis = await createRedis(await testRedis(t), pino({ level: 'silent' }))
    t.teardown(() => redis.destroy())
    const calling = { rules: await loadCallingRules(), places: shippedPlaces() }
    const campaign = await world.campaign({ dialer_interval: interval })
    for (let i = 0; i < LEGS; i++) await world.prospect(campaign, `+1212555${1000 + i}`)
    const current = async () => (await campaignById(world.tenant, campaign.id))!
    const legs = await world.claim(await current(), new Date(START_MS), { most: LEGS })
    t.equal(legs.length, LEGS)
    const random = chance(interval)
    type Moment = { atMs: number; kind: 'end' | 'ask' | 'tick'; leg?: string }
    const moments: Moment[] = legs.flatMap(({ id }): Moment[] => {
      const endMs = Math.round(random.next().value * SPAN_MS)
      return [
        { atMs: endMs, kind: 'end', leg: id },
        { atMs: endMs + ASKED_AFTER_MS, kind: 'ask' },
      ]
    })
    for (let ms = interval * 1000; ms <= SPAN_MS; ms += interval * 1000) moments.push({ atMs: ms, kind: 'tick' })
    moments.sort((a, b) => a.atMs - b.atMs)
    let ended = 0
    let wrong = 0
    for (const { atMs, kind, leg } of moments) {
      const now = new Date(START_MS + atMs)
      if (kind === 'tick') await settleCampaign(world.tenant, await current(), now)
      else if (kind === 'end') {
        const of = { workspaceId: world.tenant.workspaceId, callId: leg ?? '' }
        await endCall(world.store, of, ENDS[ended++ % ENDS.length]!, now)
      } else {
        const status = await campaignStatus({ store: world.store, redis, calling }, world.tenant, await current(), now)
        if (status.active_calls !== LEGS - ended) wrong++
        if ((status.status === 'Running') !== ended < LEGS) wrong++
      }
    }
    t.equal(ended, LEGS)
    t.equal(wrong, 0, `${LEGS} answers counted live legs alone`)
  })
}
