import t from 'tap'
import { type GateVerdict, MessageGate } from '../../../../api/realtime/gate.ts'

/** The verdicts on a client that sends `perS` messages a second for `seconds`. */
function send(perS: number, seconds: number): GateVerdict[] {
  const gate = new MessageGate(0)
  return Array.from({ length: perS * seconds }, (_, i) => gate.message((i * 1000) / perS))
}

t.test('a client that sends frames of 20 ms, or of 5 ms, is never held up', async (t) => {
  for (const perS of [50, 200]) t.ok(send(perS, 60).every((verdict) => verdict === 'pass'))
})

t.test('of 10,000 messages a second about 200 pass, then the client is closed within 3 s', async (t) => {
  const verdicts = send(10_000, 5)
  const closedAt = verdicts.indexOf('close')
  t.ok(closedAt > 10_000 && closedAt <= 30_000, `closed after ${closedAt} messages`)
  t.ok(verdicts.slice(0, closedAt).filter((verdict) => verdict === 'pass').length < 400 + 200 * 3 + 1)
})

t.test('a client that bursts and rests is slowed but not closed', async (t) => {
  const gate = new MessageGate(0)
  const verdicts: GateVerdict[] = []
  for (let burst = 0; burst < 10; burst++) {
    for (let i = 0; i < 2_000; i++) verdicts.push(gate.message(burst * 3_000))
  }
  t.ok(verdicts.includes('drop'))
  t.notOk(verdicts.includes('close'))
})

t.test('so many messages at once that they cost too much close the client at once', async (t) => {
  const gate = new MessageGate(0)
  const verdicts = Array.from({ length: 51_000 }, () => gate.message(0))
  t.ok(verdicts.includes('close'))
})

t.test('audio passes as fast as it plays and a little ahead, and no faster', async (t) => {
  const steady = new MessageGate(0)
  for (let ms = 0; ms < 600_000; ms += 20) if (!steady.audio(20, ms)) t.fail(`dropped at ${ms}`)
  const fast = new MessageGate(0)
  let passedMs = 0
  for (let ms = 0; ms < 10_000; ms += 10) if (fast.audio(100, ms)) passedMs += 100
  t.ok(passedMs >= 10_000 && passedMs <= 14_100, `${passedMs} ms of audio in 10 s`)
})
