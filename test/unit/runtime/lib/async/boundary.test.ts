import { EventEmitter, once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { boundary, inBackground } from '../../../../../runtime/lib/async/boundary.ts'
import { BOUNDARIES, type Boundary, faultCounts, reportFaultsTo } from '../../../../../runtime/lib/async/faults.ts'
import { faultLog } from '../../../../../runtime/process/fault-log.ts'
import type { Logger } from '../../../../../runtime/process/log.ts'
import { countHandlerFaults } from '../../../../../runtime/process/metrics/handler-faults.ts'

function faultsOf(t: Test) {
  const reported: [Boundary, string][] = []
  const before = new Map(faultCounts())
  t.teardown(reportFaultsTo((kind, error) => reported.push([kind, (error as Error).message])))
  return { reported, counted: (kind: Boundary) => faultCounts().get(kind)! - before.get(kind)! }
}

t.test('a handler behind a boundary is called as it would be without', (t) => {
  const emitter = new EventEmitter()
  const got: unknown[] = []
  emitter.on(
    'x',
    boundary('call', function (this: unknown, ...args: unknown[]) {
      got.push(this === emitter, ...args.slice(0, 3))
    }),
  )
  emitter.emit('x', 1, 'two', { three: 3 })
  t.same(got, [true, 1, 'two', { three: 3 }])
  t.equal(boundary('call', (a: number, b: number) => a + b)(2, 3), 5)
  t.end()
})

t.test('what it throws, at once or later, is counted and reported, and ends what it was about', async (t) => {
  const { reported, counted } = faultsOf(t)
  const ended: unknown[] = []
  const emitter = new EventEmitter()
  const socket = { name: 'a socket' }
  emitter.on(
    'now',
    boundary(
      'sip',
      (_socket: unknown) => {
        throw new Error('now')
      },
      (one) => ended.push(one),
    ),
  )
  emitter.on(
    'later',
    boundary(
      'sip',
      async (_socket: unknown) => {
        await sleep(1)
        throw new Error('later')
      },
      (one) => {
        ended.push(one)
        throw new Error('and its end')
      },
    ),
  )
  emitter.emit('now', socket)
  emitter.emit('later', socket)
  while (reported.length < 3) await sleep(1)
  t.same(reported, [
    ['sip', 'now'],
    ['sip', 'later'],
    ['sip', 'and its end'],
  ])
  t.same([ended, counted('sip')], [[socket, socket], 3])
})

t.test('so is the failure of work that nobody waits for', async (t) => {
  const { reported } = faultsOf(t)
  inBackground('queue', Promise.reject(new Error('lost')))
  inBackground('queue', Promise.resolve())
  inBackground('queue', undefined)
  await sleep(1)
  t.same(reported, [['queue', 'lost']])
})

t.test('a timer that throws goes on, and the process lives', async (t) => {
  const { counted } = faultsOf(t)
  const ticks = new EventEmitter()
  const throws = boundary('call', () => {
    ticks.emit('tick')
    throw new Error('tick')
  })
  const timer = setInterval(throws, 1)
  for (let n = 0; n < 3; n++) await once(ticks, 'tick')
  clearInterval(timer)
  setTimeout(throws, 1)
  setImmediate(throws)
  queueMicrotask(throws)
  process.nextTick(throws)
  await sleep(20)
  t.ok(counted('call') >= 7)
})

t.test('each kind is on the metrics page, from nothing on', async (t) => {
  const { Registry } = await import('prom-client')
  const registry = new Registry()
  countHandlerFaults(registry)
  faultsOf(t)
  inBackground('webrtc', Promise.reject(new Error('x')))
  await sleep(1)
  const before = await registry.metrics()
  for (const kind of BOUNDARIES) t.match(before, new RegExp(`patchbay_handler_faults_total\\{kind="${kind}"\\} \\d`))
  t.match(before, /kind="webrtc"\} 1/)
  t.match(await registry.metrics(), /kind="webrtc"\} 1/, 'a second scrape counts nothing twice')
})

t.test('the log has one line of a kind a second', (t) => {
  let nowMs = 0
  const lines: object[] = []
  const log = { error: (fields: object) => lines.push(fields) } as unknown as Logger
  const report = faultLog(log, { monotonicMs: () => nowMs })
  const err = new Error('x')
  for (let n = 0; n < 5; n++) report('sip', err)
  report('rtp', err)
  nowMs = 1_000
  report('sip', err)
  t.same(lines, [
    { err, kind: 'sip' },
    { err, kind: 'rtp' },
    { err, kind: 'sip', leftOut: 4 },
  ])
  t.end()
})
