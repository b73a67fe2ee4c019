import { once } from 'node:events'
import { dirname, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { createLogger } from '../../../../runtime/process/log.ts'
import { findRedisProgram, redisSocketUrl, startRedis } from '../../../../store/embedded/redis.ts'
import { createRedis } from '../../../../store/redis/client.ts'
import { openQueue, RescheduleJob, runJobs } from '../../../../workers/queues.ts'
import { testFolder, testRedis } from '../../../support/instance/services.ts'

const log = createLogger({ level: 'silent', name: 'test' })

t.test('a socket address reaches the database it names', async (t) => {
  const url = await testRedis(t)
  const [zero, two] = await Promise.all([createRedis(url, log), createRedis(`${url}?db=2`, log)])
  t.teardown(() => {
    zero.destroy()
    two.destroy()
  })
  await two.set('here', 'two')
  t.equal(await zero.get('here'), null)
  t.equal(await two.get('here'), 'two')
})

t.test('a Redis that keeps nothing works in the folder of its socket, not where Patchbay was started', async (t) => {
  const url = await testRedis(t)
  const client = await createRedis(url, log)
  t.teardown(() => client.destroy())
  const { dir } = await client.configGet('dir')
  t.equal(dir, dirname(decodeURIComponent(url.slice('unix://'.length))))
})

t.test('a client reconnects to a Redis that was restarted', async (t) => {
  const socketPath = join(await testFolder(t), 'redis.sock')
  const searchPath = process.env.PATH
  const program = findRedisProgram(searchPath)
  const redis = await startRedis({ folder: undefined, socketPath, program, user: undefined, searchPath, log })
  t.teardown(() => redis.stop(5_000))
  const client = await createRedis(redisSocketUrl(socketPath), log)
  t.teardown(() => client.destroy())
  const first = redis.pid ?? 0
  process.kill(first, 'SIGKILL')
  while (redis.pid === undefined || redis.pid === first) await sleep(10)
  let answer: string | undefined
  while (answer === undefined) answer = await client.ping().catch(() => undefined)
  t.equal(answer, 'PONG')
})

t.test('a client that is destroyed while it connects leaves no connection', async (t) => {
  const client = await createRedis(await testRedis(t), log)
  t.teardown(() => client.destroy())
  const other = client.duplicate().duplicate()
  const connecting = other.connect()
  other.destroy()
  await t.rejects(connecting)
  t.notOk(other.isReady)
})

t.test('a Redis that does not answer is reported as unavailable', async (t) => {
  await t.rejects(createRedis('redis://127.0.0.1:1', log), { code: 'unavailable' })
  await t.rejects(createRedis('unix:///nowhere/redis.sock', log), { code: 'unavailable' })
})

/** A Redis of its own that a client is connected to, what the client logs, and the way to stop and start that Redis. */
async function watched(t: Test) {
  const socketPath = join(await testFolder(t), 'redis.sock')
  const searchPath = process.env.PATH
  const program = findRedisProgram(searchPath)
  const start = () => startRedis({ folder: undefined, socketPath, program, user: undefined, searchPath, log })
  const lines: string[] = []
  const told = createLogger({ level: 'info', name: 'test', destination: { write: (line) => void lines.push(line) } })
  const first = await start()
  const client = await createRedis(redisSocketUrl(socketPath), told)
  return {
    client,
    stop: () => first.stop(5_000),
    async startAgain() {
      const second = await start()
      t.teardown(() => second.stop(5_000))
    },
    run: (done: () => void) =>
      runJobs(
        'documents',
        client,
        { concurrency: 1, onError: (err) => told.warn({ err }, 'A job failed'), onPoison: () => {} },
        async () => done(),
      ),
    async hears(words: string) {
      while (!lines.some((line) => line.includes(words))) await sleep(10)
    },
    /** The Redis that is stopped is told once, that it is back too, and nobody else says anything. */
    saysNoMore(t: Test) {
      const words = lines.map((line) => (JSON.parse(line) as { msg: string }).msg)
      t.same(words, ['Redis is unreachable; reconnecting', 'Redis answers again'], lines.join(''))
    },
  }
}

t.test('a Redis that goes away is told once, and once that it is back', async (t) => {
  const redis = await watched(t)
  const runner = redis.run(() => {})
  await redis.stop()
  await redis.hears('Redis is unreachable')
  // Long enough for every queue to have asked again, and again.
  await sleep(3_000)
  await redis.startAgain()
  await redis.hears('Redis answers again')
  // Before its Redis, for whose answer it waits.
  await runner.stop(0)
  redis.client.destroy()
  redis.saysNoMore(t)
})

t.test('a runner stops where Redis is away for good', async (t) => {
  const redis = await watched(t)
  t.teardown(() => redis.client.destroy())
  const taken = Promise.withResolvers<AbortSignal>()
  const idle = redis.run(() => {})
  const queue = openQueue('batches', redis.client)
  const busy = runJobs(
    'batches',
    redis.client,
    { concurrency: 1, onError: () => {}, onPoison: () => {} },
    async ({ signal }) => {
      taken.resolve(signal)
      await once(signal, 'abort')
      // Redis is to keep it for later, and does not answer.
      throw new RescheduleJob(1_000)
    },
  )
  await queue.add({ batchId: 'b', workspaceId: 'w' }, { jobId: 'b', attempts: 1, backoffMs: 0 })
  const signal = await taken.promise
  await redis.stop()
  await redis.hears('Redis is unreachable')
  await Promise.all([idle.stop(0), busy.stop(10)])
  t.ok(signal.aborted)
})

t.test('jobs begun while Redis is away run once it is back, and nothing is told of them', async (t) => {
  const redis = await watched(t)
  await redis.stop()
  await redis.hears('Redis is unreachable')
  const ran = Promise.withResolvers<void>()
  const runner = redis.run(ran.resolve)
  // Longer than a queue rests after an error.
  await sleep(3_000)
  await redis.startAgain()
  await redis.hears('Redis answers again')
  const queue = openQueue('documents', redis.client)
  await queue.add({ documentId: 'd' }, { jobId: 'd', attempts: 1, backoffMs: 0 })
  await ran.promise
  await queue.close()
  await runner.stop(0)
  redis.client.destroy()
  redis.saysNoMore(t)
})
