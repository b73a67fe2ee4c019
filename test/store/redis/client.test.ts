import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import t from 'tap'
import { createLogger } from '../../../runtime/log.ts'
import { findRedisProgram, redisSocketUrl, startRedis } from '../../../store/embedded/redis.ts'
import { createRedis } from '../../../store/redis/client.ts'
import { runJobs } from '../../../workers/queues.ts'
import { testFolder, testRedis } from '../../support/services.ts'

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

t.test('a Redis that does not answer is reported as unavailable', async (t) => {
  await t.rejects(createRedis('redis://127.0.0.1:1', log), { code: 'unavailable' })
  await t.rejects(createRedis('unix:///nowhere/redis.sock', log), { code: 'unavailable' })
})

t.test('a Redis that goes away is told once, and once that it is back', async (t) => {
  const socketPath = join(await testFolder(t), 'redis.sock')
  const searchPath = process.env.PATH
  const program = findRedisProgram(searchPath)
  const start = () => startRedis({ folder: undefined, socketPath, program, user: undefined, searchPath, log })
  const lines: string[] = []
  const told = createLogger({ level: 'info', name: 'test', destination: { write: (line) => void lines.push(line) } })
  const first = await start()
  const client = await createRedis(redisSocketUrl(socketPath), told)
  const runner = runJobs(
    'documents',
    client,
    { concurrency: 1, onError: (err) => told.warn({ err }, 'A job failed'), onPoison: () => {} },
    async () => {},
  )
  await first.stop(5_000)
  while (!lines.some((line) => line.includes('Redis is unreachable'))) await sleep(10)
  // Long enough for every queue to have asked again, and again.
  await sleep(3_000)
  const second = await start()
  t.teardown(() => second.stop(5_000))
  while (!lines.some((line) => line.includes('Redis answers again'))) await sleep(10)
  // Before its Redis, for whose answer it waits.
  await runner.stop(0)
  client.destroy()
  const words = lines.map((line) => (JSON.parse(line) as { msg: string }).msg)
  t.same(
    words,
    ['Redis is unreachable; reconnecting', 'Redis answers again'],
    `and nobody else says anything: ${lines.join('')}`,
  )
})
