import t from 'tap'
import { createLogger } from '../../../../runtime/process/log.ts'
import { createRedis } from '../../../../store/redis/client.ts'
import { startTestApi } from '../../../support/instance/api.ts'
import { ownTime } from '../../../support/world/own-time.ts'
import { waitUntil } from '../../../support/world/wait-until.ts'

const log = createLogger({ level: 'silent', name: 'test' })
const REASON = 'Redis refuses writes because its memory is full'

t.test(
  'while Redis refuses writes, readiness says so within two seconds and new calls get 503 with the reason',
  async (t) => {
    const api = await startTestApi(t)
    const redis = await createRedis(api.redisUrl, log)
    t.teardown(() => redis.destroy())
    const { client } = await api.signUp()
    const { agent_id } = (await client.post('/agents', { body: { agent_name: 'Ada', system_prompt: 'You answer.' } }))
      .body
    const tokenOf = () => client.get('/calls/generate-token', { query: { agent_id } })
    t.equal((await tokenOf()).status, 200)
    const tookMs = ownTime(t)
    await redis.configSet('maxmemory', '1')
    const refused = await tokenOf()
    t.same([refused.status, refused.body.detail], [503, `Service unavailable: ${REASON}`])
    const reasonsOf = async () => ((await api.client().get('/ready')).body.reasons ?? []) as string[]
    await waitUntil(async () => (await reasonsOf()).includes(REASON), undefined, { everyMs: 50 })
    t.ok(tookMs() < 2_000, `${tookMs()} ms`)
    const numbers = { agent_phone_number: '+14155550100', phone_number_to_dial: '+14155550199' }
    const call = await client.post('/calls/outbound_call', { body: numbers })
    t.same([call.status, call.body.detail], [503, `Service unavailable: ${REASON}`])
    const endedMs = ownTime(t)
    await redis.configSet('maxmemory', '0')
    await waitUntil(async () => !(await reasonsOf()).includes(REASON), undefined, { everyMs: 50 })
    t.ok(endedMs() < 2_000, `${endedMs()} ms`)
    t.equal((await tokenOf()).status, 200)
  },
)
