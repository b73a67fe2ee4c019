import t from 'tap'
import { createLogger } from '../../../runtime/process/log.ts'
import { createRedis } from '../../../store/redis/client.ts'
import { openQueue, type QueuePayloads, runJobs } from '../../../workers/queues.ts'
import { testRedis } from '../../support/instance/services.ts'

const redis = await createRedis(await testRedis(t), createLogger({ level: 'silent', name: 'test' }))
t.teardown(() => redis.destroy())
const JOB = { jobId: 'one', attempts: 1, backoffMs: 1 }

/** A runner of a queue of its own; `done` is what its first job says. */
function runner(part: string) {
  const errors: Error[] = []
  const done = Promise.withResolvers<QueuePayloads['recordings']>()
  const queue = openQueue('recordings', redis, part)
  const running = runJobs(
    'recordings',
    redis,
    { concurrency: 1, part, onError: (error) => errors.push(error), onPoison: () => {} },
    async ({ payload }) => done.resolve(payload),
  )
  t.teardown(async () => {
    await running.stop(0)
    await queue.close()
  })
  return { queue, errors, done: done.promise }
}

t.test('a process that stalls while its queues open runs jobs all the same', async (t) => {
  const { queue, done } = runner('stalled')
  // The library has asked Redis what it is; the answer waits longer than a command of the shared connection may take.
  for (let i = 0; i < 20; i++) await undefined
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 5_500)
  await queue.add({ callId: 'c', workspaceId: 'w' }, JOB)
  t.match(await done, { callId: 'c' })
})

t.test('a worker that Redis refuses asks again at its leisure, and works once it is served', async (t) => {
  // A replica takes no writes.
  await redis.sendCommand(['REPLICAOF', '127.0.0.1', '1'])
  const { queue, errors, done } = runner('refused')
  const refusals = async () => Number(/errorstat_READONLY:count=(\d+)/.exec(await redis.info('errorstats'))?.[1] ?? 0)
  while ((await refusals()) < 3) await new Promise((resolve) => setTimeout(resolve, 20))
  await new Promise((resolve) => setTimeout(resolve, 1_000))
  const count = await refusals()
  t.ok(count < 60, `${count} commands were refused`)
  await redis.sendCommand(['REPLICAOF', 'NO', 'ONE'])
  // The client says it, once for all queues.
  t.same(errors, [])
  await queue.add({ callId: 'c', workspaceId: 'w' }, JOB)
  t.match(await done, { callId: 'c' })
})

t.test('a Redis that breaks after queues were closed ends no process', async (t) => {
  const queue = openQueue('recordings', redis, 'closed')
  const done = Promise.withResolvers<void>()
  const running = runJobs(
    'recordings',
    redis,
    { concurrency: 1, part: 'closed', onError: () => {}, onPoison: () => {} },
    async () => done.resolve(),
  )
  await queue.add({ callId: 'c', workspaceId: 'w' }, JOB)
  await done.promise
  await running.stop(0)
  await queue.close()
  t.doesNotThrow(() => redis.emit('error', new Error('write EPIPE')))
})
