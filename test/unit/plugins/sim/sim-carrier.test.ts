import { readFileSync } from 'node:fs'
import t from 'tap'
import { SimCarrier } from '../../../../plugins/sim/sim-carrier.ts'
import { behaviourOf, SUFFIXES } from '../../../../plugins/sim/telephony-behaviour.ts'
import type { PhoneNumber } from '../../../../runtime/lib/phone-number.ts'
import { decodeG711, encodeG711 } from '../../../../runtime/media/codecs/g711.ts'
import { DialLog, listen, runTelephonyConformance } from '../../../conformance/telephony.ts'
import { runOnlyHost } from '../../../support/instance/plugin-host.ts'

const from = '+14155550100' as PhoneNumber
const FAST = { callee: { timeScale: 0.05, questions: ['What time do you open?'] } }
const makeCarrier = () => new SimCarrier(runOnlyHost('sim'), FAST)

t.test('the simulated carrier is a carrier', async (t) => {
  await runTelephonyConformance(t, {
    make: makeCarrier,
    from,
    answers: '+14155552671',
    busy: '+14155559901',
    rings: '+14155559902',
  })
})

t.test('the number decides what the callee does', async (t) => {
  const settings = { seed: 1, timeScale: 1, mix: {} }
  for (const [suffix, outcome] of Object.entries(SUFFIXES)) {
    const { answer, manner } = behaviourOf(`+1415555${suffix}`, settings)
    t.ok(answer === outcome || manner === outcome, `${suffix} is ${outcome}`)
  }
  t.match(behaviourOf('+14155552671', settings), { answer: 'human', manner: 'talks' })
})

t.test('the documentation lists every number that behaves', async (t) => {
  const page = readFileSync(new URL('../../../../docs/batches.md', import.meta.url), 'utf8')
  const listed = [...page.matchAll(/^\| (\d{4}) \|/gm)].map(([, suffix]) => suffix)
  t.same(listed, Object.keys(SUFFIXES))
})

t.test('a mix is drawn by seed and number, the same each time', async (t) => {
  const settings = { seed: 7, timeScale: 1, mix: { busy: 0.3, voicemail: 0.2 } }
  const draw = (seed: number) =>
    Array.from({ length: 1000 }, (_, i) => behaviourOf(`+1415555${1000 + i}`, { ...settings, seed }).answer)
  t.same(draw(7), draw(7))
  t.strictNotSame(draw(7), draw(8))
  const share = (answer: string) => draw(7).filter((one) => one === answer).length / 1000
  t.ok(Math.abs(share('busy') - 0.3) < 0.05 && Math.abs(share('voicemail') - 0.2) < 0.05)
})

const SPEECH = encodeG711(
  'pcmu',
  Int16Array.from({ length: 160 }, (_, i) => 8000 * Math.sin(i / 3)),
)
const loud = (bytes: Uint8Array) => decodeG711('pcmu', bytes).some((sample) => Math.abs(sample) > 1000)

/** Dials, answers, and speaks as the agent for this long. */
async function converse(to: string, speechMs: number) {
  const carrier = makeCarrier()
  const log = new DialLog()
  await carrier.dial(
    { callId: 'call', workspaceId: 'workspace', from, to: to as PhoneNumber, ringTimeoutMs: 30_000 },
    log,
    AbortSignal.timeout(120_000),
  )
  await log.over.promise
  const leg = log.leg!
  const line = listen(leg)
  for (let spokenMs = 0; spokenMs < speechMs; spokenMs += 20) {
    leg.sendAudio(SPEECH)
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
  return { carrier, leg, ...line }
}

t.test('a callee hears the agent out, speaks, and hangs up after goodbye', async (t) => {
  const { heard, ended, leg, played, carrier } = await converse('+14155552671', 300)
  leg.mark(5)
  t.notOk(
    heard.some(({ bytes }) => loud(bytes)),
    'silent while the agent speaks',
  )
  while (!heard.some(({ bytes }) => loud(bytes))) await new Promise((resolve) => setTimeout(resolve, 20))
  t.same(played, [5], 'the mark was reached')
  // The agent answers each line with a short word until the callee has had enough.
  const timer = setInterval(() => {
    leg.sendAudio(SPEECH)
    leg.mark(6)
  }, 1_500)
  t.equal(await ended, 'caller_hangup')
  clearInterval(timer)
  t.ok(
    heard.every(({ bytes }) => bytes.length === 160),
    'packets of 20 ms',
  )
  t.equal(await carrier.lookup('call'), 'unknown')
})

t.test('one who leaves hangs up in the middle of the greeting', async (t) => {
  const { ended, heard } = await converse('+14155559904', 1_000)
  t.equal(await ended, 'caller_hangup')
  t.notOk(heard.some(({ bytes }) => loud(bytes)))
})

t.test('voicemail is answered by a machine', async (t) => {
  const log = new DialLog()
  const order = {
    callId: 'call',
    workspaceId: 'workspace',
    from,
    to: '+14155559903' as PhoneNumber,
    ringTimeoutMs: 30_000,
  }
  await makeCarrier().dial(order, log, AbortSignal.timeout(120_000))
  await log.over.promise
  t.same(log.told, ['ringing', 'answered by machine'])
  log.leg?.close('voicemail')
})
