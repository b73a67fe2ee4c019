import { setImmediate, setTimeout as sleep } from 'node:timers/promises'
import t from 'tap'
import { watchStopRequests } from '../../../../runtime/process/lifecycle.ts'

/** Requests this close together count as one. */
const APART_MS = 700
const EVENTS = ['SIGINT', 'SIGTERM', 'SIGHUP', 'uncaughtException', 'unhandledRejection', 'disconnect'] as const

t.test('who asks twice for a stop does not hurry it', async (t) => {
  const before = new Map(EVENTS.map((event) => [event, process.listeners(event as 'SIGINT')]))
  t.teardown(() => {
    for (const event of EVENTS) {
      for (const listener of process.listeners(event as 'SIGINT')) {
        if (!before.get(event)?.includes(listener)) process.off(event, listener)
      }
    }
  })
  const stop = watchStopRequests(() => undefined)
  let isForced = false
  void stop.forced.then(() => {
    isForced = true
  })
  stop.request('drain')
  t.equal(await stop.requested, 'drain')
  await sleep(APART_MS)
  stop.request('drain')
  await setImmediate()
  t.equal(isForced, false)
})
