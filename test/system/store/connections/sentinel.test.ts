import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { createLogger } from '../../../../runtime/process/log.ts'
import { waitForStore } from '../../../../store/connections/wait-for-store.ts'
import { checkRedis } from '../../../../store/redis/check.ts'
import { createRedis, type RedisClient } from '../../../../store/redis/client.ts'
import { followPrimary, sentinelUrls } from '../../../../store/redis/follow-primary.ts'
import { subscribe } from '../../../../store/redis/subscribe.ts'
import { openQueue, runJobs } from '../../../../workers/queues.ts'
import { ApiClient, startTestApi } from '../../../support/instance/api.ts'
import { SILENT, startInstance } from '../../../support/instance/instance.ts'
import { RealtimeClient } from '../../../support/instance/realtime-node.ts'
import { sentinelMissing, startSentinels } from '../../../support/instance/redis-sentinels.ts'
import { testFolder } from '../../../support/instance/services.ts'
import { linkWorker, startPhone } from '../../../support/phone/phone.ts'
import { makeAuthority } from '../../../support/sip/certificates.ts'
import { startFaultProxy } from '../../../support/world/fault-proxy.ts'
import { waitUntil } from '../../../support/world/wait-until.ts'

const log = createLogger({ level: 'silent', name: 'test' })
const RECOVERY_MS = 5_000

type World = Awaited<ReturnType<typeof startSentinels>>

async function followed(t: Test, { redisUrl, sentinels }: Pick<World, 'redisUrl' | 'sentinels'>): Promise<string> {
  const primary = await followPrimary({ redisUrl, sentinels: sentinelUrls(sentinels), log })
  t.teardown(() => primary.close())
  return primary.redisUrl
}

async function connected(t: Test, url: string): Promise<RedisClient> {
  const client = await createRedis(url, log)
  t.teardown(() => client.destroy())
  return client
}

/** Has the primary die, and resolves once the Sentinels have another one. */
async function killPrimary(world: World): Promise<void> {
  const old = await world.primary()
  old?.child.kill('SIGKILL')
  await waitUntil(
    async () => (await world.primary())?.port !== old?.port,
    () => 'a failover',
    { everyMs: 50 },
  )
}

t.test(
  'a live call outlives the death of the primary, and calls begin again soon',
  { skip: sentinelMissing },
  async (t) => {
    const world = await startSentinels(t)
    const api = await startTestApi(t, { redisUrl: await followed(t, world) })
    await linkWorker(t, api)
    const user = await api.signUp()
    const { agentId } = await startPhone(api, user)
    const begin = () => user.client.get('/calls/generate-token', { query: { agent_id: agentId } })
    const { body } = await begin()
    const page = new RealtimeClient({ url: api.url.replace(/^http/, 'ws') }, body.token)
    await page.got('session.started')
    await killPrimary(world)
    const movedMs = performance.now()
    await waitUntil(
      async () => (await begin()).status === 200 && (await api.client().get('/ready')).status === 200,
      () => 'calls to begin',
      { everyMs: 50 },
    )
    const tookMs = performance.now() - movedMs
    t.ok(tookMs < RECOVERY_MS, `${Math.round(tookMs)} ms after the failover`)
    page.send({ type: 'text', text: 'still here' })
    await waitUntil(
      () => page.messages.some((message) => `${message.text}`.includes('still here')),
      () => 'the agent to answer',
    )
    const call = await user.client.get(`/calls/${body.call_log_id}`)
    t.equal(call.body.status, 'in_progress')
  },
)

t.test(
  'commands, subscriptions and the queues move to the new primary while the old one lives on',
  { skip: sentinelMissing },
  async (t) => {
    const world = await startSentinels(t)
    const client = await connected(t, await followed(t, world))
    const heard: string[] = []
    const subscription = await subscribe(client, 'news', { what: 'Listening', log }, (message) => heard.push(message))
    t.teardown(() => subscription.stop())
    const done: string[] = []
    const options = { concurrency: 5, onError: () => {}, onPoison: () => {} }
    const runner = runJobs('documents', client, options, async ({ payload }) => void done.push(payload.documentId))
    t.teardown(() => runner.stop(0))
    const queue = openQueue('documents', client)
    t.teardown(() => queue.close())
    await queue.add({ documentId: 'before' }, { jobId: 'before', attempts: 5, backoffMs: 100 })
    await waitUntil(() => done.includes('before'))
    await world.failOver()
    const movedMs = performance.now()
    await waitUntil(
      async () => {
        await client.set('a', '1').catch(() => {})
        return (await world.admin(world.second, 'GET', 'a')) === '1'
      },
      () => 'a write at the new primary',
      { everyMs: 50 },
    )
    const tookMs = performance.now() - movedMs
    t.ok(tookMs < RECOVERY_MS, `written there after ${Math.round(tookMs)} ms`)
    await waitUntil(
      () =>
        queue.add({ documentId: 'after' }, { jobId: 'after', attempts: 5, backoffMs: 100 }).then(
          () => true,
          () => false,
        ),
      undefined,
      { everyMs: 100 },
    )
    await waitUntil(
      () => done.includes('after'),
      () => 'the job',
    )
    await waitUntil(
      async () => {
        await client.publish('news', 'hello')
        return heard.includes('hello')
      },
      () => 'the news',
      { everyMs: 100 },
    )
  },
)

t.test(
  'of Sentinels that differ the one that saw the later failover is believed',
  { skip: sentinelMissing },
  async (t) => {
    const [stale, current] = [await startSentinels(t, { sentinels: 1 }), await startSentinels(t, { sentinels: 1 })]
    await current.failOver()
    const url = await followed(t, { redisUrl: stale.redisUrl, sentinels: [...stale.sentinels, ...current.sentinels] })
    const client = await connected(t, url)
    await waitUntil(
      async () => {
        await client.set('where', 'here').catch(() => {})
        return (await current.admin(current.second, 'GET', 'where')) === 'here'
      },
      () => 'a write where the later failover led',
      { everyMs: 50 },
    )
    await stale.admin(stale.first, 'DEL', 'where')
    await client.set('where', 'there')
    t.equal(await stale.admin(stale.first, 'GET', 'where'), null)
  },
)

t.test(
  'Sentinels and data nodes speak TLS under an authority of the operator',
  { skip: sentinelMissing },
  async (t) => {
    const folder = await testFolder(t)
    const authority = makeAuthority()
    const { key, cert } = authority.issue(['127.0.0.1'])
    const tls = { ca: join(folder, 'ca.pem'), key: join(folder, 'key.pem'), cert: join(folder, 'cert.pem') }
    await Promise.all([writeFile(tls.ca, authority.cert), writeFile(tls.key, key), writeFile(tls.cert, cert)])
    const world = await startSentinels(t, { tls, sentinels: 1 })
    const url = await followed(t, world)
    await checkRedis(url, log)
    const client = await connected(t, url)
    t.equal(await client.set('k', 'v'), 'OK')
    const other = join(folder, 'other.pem')
    await writeFile(other, makeAuthority('Another').cert)
    const distrusted = await followed(t, { ...world, redisUrl: world.redisUrl.replace(tls.ca, other) })
    await t.rejects(createRedis(distrusted, log), { code: 'unavailable' }, 'a data node of another authority')
  },
)

t.test('a start waits for Sentinels that reset its first connections', { skip: sentinelMissing }, async (t) => {
  const world = await startSentinels(t, { sentinels: 1 })
  const [sentinel = ''] = world.sentinels
  const proxy = await startFaultProxy(t, { port: Number(new URL(sentinel).port) })
  proxy.cut()
  const { redisUrl } = world
  const sentinels = sentinelUrls([`redis://:watch@127.0.0.1:${proxy.port}`])
  const following = waitForStore(log, () => followPrimary({ redisUrl, sentinels, log }))
  await waitUntil(() => proxy.accepted > 1)
  await proxy.mend()
  const primary = await following
  t.teardown(() => primary.close())
  await checkRedis(primary.redisUrl, log)
})

t.test('what is wrong with the settings is said', { skip: sentinelMissing }, async (t) => {
  const world = await startSentinels(t, { sentinels: 1 })
  const sentinels = sentinelUrls(world.sentinels)
  await t.rejects(followPrimary({ redisUrl: 'redis://:data@other', sentinels, log }), {
    code: 'configuration',
    message: /know no primary named "other"/,
  })
  await t.rejects(followPrimary({ redisUrl: 'unix:///run/redis.sock', sentinels, log }), {
    code: 'configuration',
    message: /the name of the primary/,
  })
  await t.rejects(followPrimary({ redisUrl: world.redisUrl, sentinels: sentinelUrls(['127.0.0.1:1']), log }), {
    code: 'unavailable',
  })
  t.same(sentinelUrls(['one', 'two:5', 'rediss://:p@three?cafile=/a']), [
    'redis://one:26379',
    'redis://two:5',
    'rediss://:p@three:26379?cafile=/a',
  ])
  for (const wrong of ['http://one', 'a b', 'redis://']) {
    t.throws(() => sentinelUrls([wrong]), { code: 'configuration', message: /REDIS_SENTINELS must list/ })
  }
})

t.test(
  'a whole installation behind Sentinels is ready again after a failover',
  { skip: sentinelMissing },
  async (t) => {
    const world = await startSentinels(t)
    const env = { REDIS_URL: world.redisUrl, REDIS_SENTINELS: world.sentinels.join(',') }
    const instance = await startInstance(t, { ...SILENT, ...env })
    await killPrimary(world)
    const client = new ApiClient(instance.url)
    await waitUntil(
      async () => (await client.get('/ready')).body.redis === 'ok',
      () => `Redis to be ready: ${instance.output()}`,
      { timeoutMs: 20_000 },
    )
    t.match(instance.output(), 'The Redis Sentinels name another primary')
    t.equal(await instance.stop(), 0)
  },
)
