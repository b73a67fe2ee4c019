import { pino } from 'pino'
import t, { type Test } from 'tap'
import { HangUps } from '../../../../../runtime/plugin-sdk/telephony/hang-ups.ts'
import { ApiFault, refusesForGood } from '../../../../../runtime/plugin-sdk/telephony/stream/rest.ts'
import { hangUpMetrics } from '../../../../../runtime/process/metrics/hang-ups.ts'
import { waitUntil } from '../../../../support/world/wait-until.ts'

const PAUSES = { firstMs: 5, mostMs: 20, limitMs: 60_000 }

// The pauses keep no process from ending.
const alive = setInterval(() => {}, 1_000)
t.teardown(() => clearInterval(alive))

async function countOf(metric: (typeof hangUpMetrics)[keyof typeof hangUpMetrics]): Promise<number> {
  return (await metric.get()).values[0]?.value ?? 0
}

function makeHangUps(t: Test, pauses = PAUSES) {
  const lines: string[] = []
  const log = pino({ level: 'info' }, { write: (line: string) => void lines.push(JSON.parse(line).msg) })
  const hangUps = new HangUps({ log, pauses, isFinal: refusesForGood })
  t.teardown(() => hangUps.close())
  return { hangUps, lines }
}

t.test('a carrier that fails is asked on until it has ended the call, and that is logged and counted', async (t) => {
  const { hangUps, lines } = makeHangUps(t)
  const gate = Promise.withResolvers<void>()
  let asked = 0
  const ask = async (): Promise<void> => {
    if (++asked < 4) throw new ApiFault('away', 503)
    await gate.promise
  }
  const ended = hangUps.end('one', ask)
  const again = hangUps.end('one', () => Promise.reject(new Error('it is being ended')))
  await waitUntil(() => asked === 4, undefined, { everyMs: 5 })
  t.equal(await countOf(hangUpMetrics.pending), 1)
  gate.resolve()
  await Promise.all([ended, again])
  t.equal(await countOf(hangUpMetrics.pending), 0)
  t.same(lines, ['The carrier did not end a call; it is asked again', 'The carrier ended a call at last'])
})

t.test('somebody who stops waiting does not stop the asking', async (t) => {
  const { hangUps } = makeHangUps(t)
  let isUp = false
  let isEnded = false
  const ask = async (): Promise<void> => {
    if (!isUp) throw new ApiFault("it can't be reached")
    isEnded = true
  }
  const waiting = new AbortController()
  const ended = hangUps.end('one', ask, waiting.signal)
  waiting.abort(new Error('too late'))
  await t.rejects(ended, { message: 'too late' })
  isUp = true
  await waitUntil(() => isEnded, undefined, { everyMs: 5 })
})

t.test('what a carrier refuses for good is not asked again, what it is too busy for is', async (t) => {
  const { hangUps, lines } = makeHangUps(t)
  const failedBefore = await countOf(hangUpMetrics.failed)
  let asked = 0
  const refusing = (status: number) => async (): Promise<void> => {
    if (++asked < 3) throw new ApiFault('no', status)
  }
  await t.rejects(hangUps.end('one', refusing(403)), { message: 'no' })
  t.equal(asked, 1)
  t.same(lines, ['The carrier did not end a call, which may still run there'])
  t.equal((await countOf(hangUpMetrics.failed)) - failedBefore, 1)
  asked = 0
  await hangUps.end('two', refusing(429))
  t.equal(asked, 3)
})

t.test('it gives up at its limit, and when the process stops', async (t) => {
  const { hangUps, lines } = makeHangUps(t, { ...PAUSES, limitMs: 50 })
  const ask = () => Promise.reject(new ApiFault('away', 500))
  await t.rejects(hangUps.end('one', ask), { message: 'away' })
  const patient = makeHangUps(t, { firstMs: 60_000, mostMs: 60_000, limitMs: 600_000 })
  const ended = patient.hangUps.end('two', ask)
  await waitUntil(() => patient.lines.length === 1, undefined, { everyMs: 5 })
  await Promise.all([patient.hangUps.close(), t.rejects(ended, { message: 'away' })])
  for (const said of [lines, patient.lines])
    t.equal(said.at(-1), 'The carrier did not end a call, which may still run there')
  t.equal(await countOf(hangUpMetrics.pending), 0)
})
