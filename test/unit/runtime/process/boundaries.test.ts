import { once } from 'node:events'
import { pino } from 'pino'
import t, { type Test } from 'tap'
import { WebSocketServer } from 'ws'
import { systemTimers } from '../../../../plugins/sip/transaction/timers.ts'
import { connectLinks } from '../../../../runtime/call/link/worker-end.ts'
import { type Boundary, faultCounts, reportFaultsTo } from '../../../../runtime/lib/async/faults.ts'
import { systemClock } from '../../../../runtime/lib/clock.ts'
import { nodeTicker } from '../../../../runtime/media/line/pacer.ts'
import { createRedis } from '../../../../store/redis/client.ts'
import { subscribe } from '../../../../store/redis/subscribe.ts'
import { openQueue, runJobs } from '../../../../workers/queues.ts'
import { startPeriodicJob } from '../../../../workers/rounds.ts'
import { testRedis } from '../../../support/instance/services.ts'
import { waitUntil } from '../../../support/world/wait-until.ts'

/** HTTP and WebSockets: test/unit/api/http/server.test.ts. */

const log = pino({ level: 'silent' })

async function failsOnly(t: Test, kind: Boundary, times = 1): Promise<void> {
  const before = faultCounts().get(kind) ?? 0
  t.teardown(reportFaultsTo(() => {}))
  const waited = () => `${times} faults of ${kind}`
  await waitUntil(() => (faultCounts().get(kind) ?? 0) >= before + times, waited, { everyMs: 5 })
}

const fail = (): never => {
  throw new Error('planted')
}

t.test('a message of a Redis channel that is not understood is that message alone', async (t) => {
  const redis = await createRedis(await testRedis(t), log)
  t.teardown(() => redis.destroy())
  const heard: string[] = []
  const subscription = await subscribe(redis, 'channel', { what: 'A test', log }, (text) => {
    if (text === 'bad') fail()
    heard.push(text)
  })
  t.teardown(() => subscription.stop())
  const failed = failsOnly(t, 'redis')
  for (const text of ['one', 'bad', 'two']) await redis.publish('channel', text)
  await failed
  await waitUntil(() => heard.length >= 2, undefined, { everyMs: 5 })
  t.same(heard, ['one', 'two'])
})

t.test('a listener of a queue that throws leaves its jobs running', async (t) => {
  const redis = await createRedis(await testRedis(t), log)
  t.teardown(() => redis.destroy())
  const queue = openQueue('documents', redis)
  t.teardown(() => queue.close())
  const ran: string[] = []
  const runner = runJobs(
    'documents',
    redis,
    { concurrency: 1, onError: fail, onPoison: fail, onRefused: fail } as never,
    async ({ payload }) => {
      ran.push(JSON.stringify(payload))
      if (ran.length === 1) throw new Error('a bad job')
    },
  )
  t.teardown(() => runner.stop(0))
  const failed = failsOnly(t, 'queue')
  for (const documentId of ['one', 'two'])
    await queue.add({ documentId, workspaceId: 'w' } as never, { jobId: documentId, attempts: 1, backoffMs: 1 })
  await failed
  await waitUntil(() => ran.length >= 2)
  t.match(ran[1], /two/, 'the next job runs')
})

t.test('a beat of the link that throws ends neither the link nor the worker', async (t) => {
  const server = new WebSocketServer({ port: 0, host: '127.0.0.1' })
  await once(server, 'listening')
  t.teardown(() => server.close())
  const failed = failsOnly(t, 'link', 2)
  const { port } = server.address() as { port: number }
  const abort = new AbortController()
  const connected = once(server, 'connection')
  const links = connectLinks({
    ...{ urls: [`ws://127.0.0.1:${port}`], token: 'x', workerId: 'w', capacity: 1, metricsUrl: 'http://127.0.0.1/' },
    openConversation: fail,
    state: fail,
    ...{ clock: systemClock, random: Math.random, log, signal: abort.signal },
  })
  const [socket] = await connected
  socket.send('{"type":"warm"}')
  socket.send('{"type":"open"}')
  await failed.catch(() => undefined)
  t.equal(links.activeSessions(), 0)
  for (const client of server.clients) client.terminate()
  abort.abort()
})

t.test('a tick, a round and a timer of SIP that throw are counted', async (t) => {
  const ticked = failsOnly(t, 'call')
  nodeTicker.setTimeout(fail, 1)
  await ticked
  const timed = failsOnly(t, 'sip')
  systemTimers.after(1, fail)
  await timed
  const rounds = failsOnly(t, 'queue', 2)
  const started = startPeriodicJob(fail, { intervalMs: 2, onError: fail })
  await rounds
  await started.stop()
})
