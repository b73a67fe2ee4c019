import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import t from 'tap'
import { loadCallingRules } from '../../../../runtime/dialing/rules.ts'
import { shippedPlaces } from '../../../../runtime/dialing/zones.ts'
import { addDoNotCall } from '../../../../store/campaigns/do-not-call.ts'
import { createDialCheck } from '../../../../workers/dialer/before-dial.ts'
import { campaignWorld } from '../../../support/world/campaign-world.ts'

const NOON_MS = Date.parse('2026-03-02T17:00:00Z')
const NIGHT_MS = Date.parse('2026-03-03T04:00:00Z')
const { signal } = new AbortController()

t.test('right before the carrier is asked everything is looked at once more', async (t) => {
  const world = await campaignWorld(t)
  const { tenant, store } = world
  const calling = { rules: await loadCallingRules(), places: shippedPlaces() }
  let nowMs = NOON_MS
  let answer = { status: 200, text: '{"dial": true}' }
  const server = createServer((request, response) => {
    request.resume()
    // An answer of no status never comes.
    if (answer.status !== 0) response.writeHead(answer.status).end(answer.text)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.teardown(() => {
    server.closeAllConnections()
    server.close()
  })
  const { port } = server.address() as AddressInfo
  const check = createDialCheck({
    calling,
    clock: { nowMs: () => nowMs, monotonicMs: () => nowMs },
    toolsAllowNet: [`127.0.0.1:${port}`],
  })
  const campaign = await world.campaign({ budget: 5 })
  const prospectId = await world.prospect(campaign, '+12125550142')
  const [made] = await world.claim(campaign, new Date(NOON_MS))
  const call = await tenant.db.selectFrom('calls').selectAll().where('id', '=', made!.id).executeTakeFirstOrThrow()
  const refusal = () => check(tenant, call, signal)
  const change = (sentence: string) => store.pool.query(sentence)

  t.equal(await refusal(), undefined)
  nowMs = NIGHT_MS
  t.match(await refusal(), { reason: 'window', sentence: /23:00 in America\/New_York/ })
  nowMs = NOON_MS
  await change('update campaigns set paused = true')
  t.match(await refusal(), { reason: 'paused' })
  await change('update campaigns set paused = false, active = false')
  t.match(await refusal(), { reason: 'inactive' })
  await change('update campaigns set active = true, deleted_at = now()')
  t.match(await refusal(), { reason: 'inactive' })
  await change('update campaigns set deleted_at = null, holidays = \'["2026-03-02"]\'')
  t.match(await refusal(), { reason: 'holiday' })
  await change("update campaigns set holidays = '[]', ignore_states = 'NY'")
  t.match(await refusal(), { reason: 'state' })
  await change("update campaigns set ignore_states = ''")
  await store.pool.query(
    "insert into campaign_days (campaign_id, workspace_id, day, cost) values ($1, $2, '2026-03-01', 5)",
    [campaign.id, tenant.workspaceId],
  )
  t.match(await refusal(), { reason: 'budget_reached' })
  await change('delete from campaign_days')

  await change(`update campaigns set webhook_before_dial = 'http://127.0.0.1:${port}/may'`)
  t.equal(await refusal(), undefined, 'the webhook says yes')
  const refused: [number, string, RegExp][] = [
    [200, '{"dial": false, "reason": "a customer already"}', /: a customer already$/],
    [200, '{"dial": "true"}', /did not answer \{"dial": true\}/],
    [200, 'null', /did not answer/],
    [200, 'yes', /no JSON/],
    [204, '', /status 204/],
    [500, '{"dial": true}', /status 500/],
    [0, '', /no answer within 2000 ms/],
  ]
  for (const [status, text, sentence] of refused) {
    answer = { status, text }
    t.match(await refusal(), { reason: 'webhook', sentence }, `${status} ${text}`)
  }
  answer = { status: 200, text: '{"dial": true}' }
  await change("update campaigns set webhook_before_dial = 'http://127.0.0.1:9/may'")
  t.match(await refusal(), { reason: 'webhook', sentence: /may not be reached/ }, 'an address that is not allowed')
  await change('update campaigns set webhook_before_dial = null')

  await addDoNotCall(tenant, [{ phone: '+12125550142', reason: '', source: 'api' }], new Date(NOON_MS))
  t.match(await refusal(), { reason: 'do_not_call' })
  await change('delete from do_not_call')
  t.equal(await refusal(), undefined)
  await change(`delete from prospects where id = '${prospectId}'`)
  t.match(await refusal(), { reason: 'deleted' })
  t.equal(await check(tenant, { ...call, campaign_slug: null }, signal), undefined, 'a single call is no campaign')
})
