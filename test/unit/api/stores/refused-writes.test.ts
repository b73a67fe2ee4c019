import t from 'tap'
import { createLogger } from '../../../../runtime/process/log.ts'
import { createRedis } from '../../../../store/redis/client.ts'
import { startTestApi } from '../../../support/instance/api.ts'
import { ownTime } from '../../../support/world/own-time.ts'
import { cannotSave } from '../../../support/world/store-faults.ts'
import { waitUntil } from '../../../support/world/wait-until.ts'

const silent = createLogger({ level: 'silent', name: 'test' })

t.test('while Redis refuses writes, readiness, new calls and the log say why', async (t) => {
  const said: string[] = []
  const log = createLogger({ level: 'warn', name: 'api', destination: { write: (line) => void said.push(line) } })
  const api = await startTestApi(t, { log })
  const redis = await createRedis(api.redisUrl, silent)
  t.teardown(() => redis.destroy())
  const { client } = await api.signUp()
  const { agent_id } = (await client.post('/agents', { body: { agent_name: 'Ada', system_prompt: 'You answer.' } }))
    .body
  const tokenOf = () => client.get('/calls/generate-token', { query: { agent_id } })
  const reasonsOf = async () => ((await api.client().get('/ready')).body.reasons ?? []) as string[]
  const full = {
    begin: () => redis.configSet('maxmemory', '1'),
    end: () => redis.configSet('maxmemory', '0'),
  }
  for (const [reason, reply, { begin, end }] of [
    ['Redis refuses writes because its memory is full', 'OOM', full],
    [
      "Redis refuses writes because it can't write to its disk",
      'MISCONF',
      cannotSave((...command) => redis.sendCommand(command)),
    ],
  ] as const) {
    t.equal((await tokenOf()).status, 200)
    await begin()
    const tookMs = ownTime(t)
    const refused = await tokenOf()
    t.same([refused.status, refused.body.detail], [503, `Service unavailable: ${reason}`])
    await waitUntil(async () => (await reasonsOf()).includes(reason), undefined, { everyMs: 50 })
    t.ok(tookMs() < 2_000, `${reply}: ${tookMs()} ms`)
    const numbers = { agent_phone_number: '+14155550100', phone_number_to_dial: '+14155550199' }
    const call = await client.post('/calls/outbound_call', { body: numbers })
    t.same([call.status, call.body.detail], [503, `Service unavailable: ${reason}`])
    t.ok(
      said.some((line) => line.includes(reply)),
      `the log has what Redis says: ${reply}`,
    )
    const endedMs = ownTime(t)
    await end()
    await waitUntil(async () => !(await reasonsOf()).includes(reason), undefined, { everyMs: 50 })
    t.ok(endedMs() < 2_000, `${reply}: ${endedMs()} ms`)
    t.equal((await tokenOf()).status, 200)
  }
})
