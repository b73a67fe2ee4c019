import t from 'tap'
import { SignalLog } from '../../../../../plugins/sip/trace/signal-log.ts'
import type { Flow } from '../../../../../plugins/sip/transport/flow.ts'

/** What the messages of calls take of memory is bounded, whatever somebody sends. */

const local = { host: '192.0.2.1', port: 5060 }
const flow: Flow = { protocol: 'udp', address: '192.0.2.2', port: 5060, local, isOpen: true, send: () => undefined }
const invite = (callId: string, padding = '') =>
  Buffer.from(`INVITE sip:a@b SIP/2.0\r\nCall-ID: ${callId}\r\nCSeq: 1 INVITE\r\nX: ${padding}\r\n\r\n`)

t.test('long messages push out the oldest calls, short ones do not', async (t) => {
  const log = new SignalLog(() => 0)
  const padding = 'a'.repeat(16_000)
  for (let i = 0; i < 5_000; i++) log.note('in', invite(`short-${i}`), flow)
  t.equal(log.messages('short-0').length, 1, '5,000 calls are kept')
  for (let i = 0; i < 4_500; i++) log.note('in', invite(`long-${i}`, padding), flow)
  t.same(log.messages('short-0'), [])
  let chars = 0
  for (let i = 0; i < 4_500; i++) for (const { text } of log.messages(`long-${i}`)) chars += text.length
  t.ok(chars <= 64 * 1024 * 1024, `${chars} characters`)
  t.equal(log.messages('long-4499').length, 1, 'the latest is kept')
  t.same(log.messages('long-0'), [])
})

t.test('what leaves the middle of a call and calls that are over give their room back', async (t) => {
  let nowMs = 0
  const log = new SignalLog(() => nowMs)
  const padding = 'a'.repeat(16_000)
  for (let i = 0; i < 20_000; i++) log.note('in', invite('one', padding), flow)
  t.equal(log.messages('one').length, 120)
  log.over('one')
  nowMs += 60_000
  log.note('in', invite('next'), flow)
  t.same(log.messages('one'), [])
  t.equal(log.messages('next').length, 1)
})

t.test('a message that is sent again is kept once', async (t) => {
  const log = new SignalLog(() => 0)
  const bytes = invite('again', 'a'.repeat(16_000))
  log.note('out', bytes, flow)
  const from = process.memoryUsage().heapUsed
  for (let i = 0; i < 110; i++) log.note('out', bytes, flow)
  t.equal(log.messages('again').length, 111)
  t.equal(new Set(log.messages('again').map(({ text }) => text)).size, 1)
  t.ok(process.memoryUsage().heapUsed - from < 1e6)
})
