import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { createLogger } from '../../../../runtime/process/log.ts'
import { createRedis, type RedisClient } from '../../../../store/redis/client.ts'
import { loadScript } from '../../../../store/redis/scripts/run.ts'
import { subscribe } from '../../../../store/redis/subscribe.ts'
import { openQueue, runJobs } from '../../../../workers/queues.ts'
import { startPlainRedis, startRedisPair } from '../../../support/instance/redis-pair.ts'
import { testFolder } from '../../../support/instance/services.ts'
import { startFaultProxy } from '../../../support/world/fault-proxy.ts'
import { ownTime } from '../../../support/world/own-time.ts'
import { waitUntil } from '../../../support/world/wait-until.ts'

const log = createLogger({ level: 'silent', name: 'test' })
const renew = loadScript('renew-leases-1.lua')

async function connected(t: Test, url: string): Promise<RedisClient> {
  const client = await createRedis(url, log)
  t.teardown(() => client.destroy())
  return client
}

/** A queue and its runner on the client; resolves with a function that runs a job and says how long that took. */
async function jobs(t: Test, client: RedisClient) {
  const done: string[] = []
  const options = { concurrency: 5, onError: () => {}, onPoison: () => {} }
  const runner = runJobs('documents', client, options, async ({ payload }) => void done.push(payload.documentId))
  t.teardown(() => runner.stop(0))
  const queue = openQueue('documents', client)
  t.teardown(() => queue.close())
  return async (documentId: string): Promise<number> => {
    const startedAtMs = performance.now()
    const add = () => queue.add({ documentId }, { jobId: documentId, attempts: 5, backoffMs: 100 })
    while (
      !(await add().then(
        () => true,
        () => false,
      ))
    ) {
      await sleep(100)
    }
    await waitUntil(
      () => done.includes(documentId),
      () => `job ${documentId}`,
      { everyMs: 20 },
    )
    return performance.now() - startedAtMs
  }
}

t.test('after a failover that leaves the old server alive, commands and jobs go on within five seconds', async (t) => {
  const pair = await startRedisPair(t)
  const client = await connected(t, pair.url)
  const runJob = await jobs(t, client)
  await runJob('before')
  const heard: string[] = []
  const subscription = await subscribe(client, 'news', { what: 'Listening', log }, (message) => heard.push(message))
  t.teardown(() => subscription.stop())
  await pair.failOver()
  const failedOverMs = ownTime(t)
  // Asked at once, and answered once the connection is the right one: nobody sees the failover.
  await Promise.all([
    client.set('a', '1'),
    client.set('b', '2'),
    renew.run(client, ['patchbay:{calls}:leases'], [1000, 'c']),
  ])
  t.ok(failedOverMs() < 2_000, `${failedOverMs()} ms`)
  t.equal(await pair.second.admin('GET', 'a'), '1', 'written at the new primary')
  const tookMs = await runJob('after')
  t.ok(tookMs < 5_000, `a job took ${tookMs} ms`)
  await client.publish('news', 'hello')
  await waitUntil(
    () => heard.includes('hello'),
    () => 'the news',
    { everyMs: 20, timeoutMs: 5_000 },
  )
})

t.test(
  'while the address leads to a replica it is asked in growing pauses, and a write fails within its limit',
  async (t) => {
    const pair = await startRedisPair(t)
    const client = await connected(t, pair.url)
    const before = pair.proxy.accepted
    await pair.second.admin('REPLICAOF', 'NO', 'ONE')
    await pair.first.admin('REPLICAOF', '127.0.0.1', '1')
    const tookMs = ownTime(t)
    await t.rejects(Promise.all(Array.from({ length: 200 }, (_, n) => client.set(`k${n}`, 'v'))), /READONLY/)
    t.ok(tookMs() < 6_500, `${tookMs()} ms`)
    t.ok(pair.proxy.accepted - before < 15, `${pair.proxy.accepted - before} connections`)
    pair.proxy.redirect({ path: pair.second.socketPath })
    t.equal(await client.set('again', '1'), 'OK')
  },
)

t.test('a connection that falls silent is noticed though it is written to, and dialled again', async (t) => {
  const redis = await startPlainRedis(t)
  const proxy = await startFaultProxy(t, { path: redis.socketPath })
  const client = await connected(t, `redis://127.0.0.1:${proxy.port}`)
  const runJob = await jobs(t, client)
  await runJob('before')
  const writing = setInterval(() => client.set('k', 'v').catch(() => {}), 500)
  t.teardown(() => clearInterval(writing))
  proxy.silence()
  const silentMs = ownTime(t)
  while (
    !(await client.get('k').then(
      () => true,
      () => false,
    ))
  ) {
    await sleep(50)
  }
  t.ok(silentMs() < 8_000, `${silentMs()} ms`)
  await runJob('after')
  // The connection that waits for jobs asks nothing: it goes by what the other one found out.
  t.ok(silentMs() < 7_500, `a job ran ${silentMs()} ms later`)
})

t.test('a server that is slow, within the limits, keeps its connections', async (t) => {
  const redis = await startPlainRedis(t)
  const proxy = await startFaultProxy(t, { path: redis.socketPath })
  const client = await connected(t, `redis://127.0.0.1:${proxy.port}`)
  const before = proxy.accepted
  proxy.delay(1_000)
  for (let n = 0; n < 4; n++) t.equal(await client.set('k', 'v'), 'OK')
  t.equal(proxy.accepted, before)
})

t.test('a user of an access list signs in with a password from a file, which may be rotated', async (t) => {
  const redis = await startPlainRedis(t)
  const passwordFile = join(await testFolder(t), 'password')
  await writeFile(passwordFile, 'first\n')
  await redis.admin('ACL', 'SETUSER', 'patchbay', 'on', '>first', '~*', '&*', '+@all')
  await redis.admin('ACL', 'SETUSER', 'default', 'off')
  const proxy = await startFaultProxy(t, { path: redis.socketPath })
  const client = await connected(t, `redis://patchbay@127.0.0.1:${proxy.port}/1?passwordfile=${passwordFile}`)
  t.equal(await client.set('k', 'v'), 'OK')
  await redis.admin('ACL', 'SETUSER', 'patchbay', 'resetpass', '>second')
  await writeFile(passwordFile, 'second\n')
  proxy.reset()
  t.equal(await client.get('k'), 'v', 'database 1 of the address, under the new password')
  t.equal(await client.aclWhoAmI(), 'patchbay')
})
