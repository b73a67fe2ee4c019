import { setTimeout as sleep, setImmediate as turn } from 'node:timers/promises'
import t from 'tap'
import { startSipInstance } from '../../../../support/instance/sip-instance.ts'
import { WirePhone } from '../../../../support/phone/wire-phone.ts'
import { waitUntil } from '../../../../support/world/wait-until.ts'

/** Calls that are held, every way there is, against a Patchbay as an operator runs it. */

/** How long a call is held. With PATCHBAY_TEST_HOLD_MS=300000 it is five minutes, and silence ends a call as it does by default. */
const HOLD_MS = Number(process.env.PATCHBAY_TEST_HOLD_MS ?? 12_000)
const IDLE_S = Math.min(60, HOLD_MS / 2_000)
/** Half a minute: whenever the call is held, it is still being said. */
const GREETING = [
  'Hotel Aurora, good morning! We have rooms free from Monday until Friday, breakfast is included, and the sea is a minute away.',
  'We have rooms with one bed, rooms with two beds and rooms for families, and each of them has a balcony.',
  'The restaurant is open from noon until ten in the evening, and the bar is open until the last of our guests has gone to bed.',
  'There is a swimming pool on the roof, a garden behind the house, and a bus to the old town every quarter of an hour.',
].join(' ')

// biome-ignore lint/suspicious/noExplicitAny: a test reads any field
type Body = any

t.test('a call that is held goes on when it is resumed', { timeout: 840_000 + 2 * HOLD_MS }, async (t) => {
  const { client, sipPort } = await startSipInstance(t)
  const { body: agent } = await client.post('/agents', {
    body: { agent_name: 'Ada', system_prompt: 'You are Ada.', first_message: GREETING, idle_timeout_s: IDLE_S },
  })
  let numbers = 0
  /** A number of its own for each case, so that its call is found. */
  const addNumber = async (): Promise<string> => {
    const number = `+141555501${String(10 + numbers++)}`
    const body = { phone_number: number, provider: 'sip', agent_id: agent.agent_id }
    const { status } = await client.post('/phone-numbers', { body })
    if (status !== 201) throw new Error(`no number: ${status}`)
    return number
  }
  const callTo = async (number: string): Promise<Body> =>
    (await client.get('/calls/logs')).body.items.find((one: Body) => one.to_number === number)
  const over = async (number: string): Promise<Body> => {
    let call: Body
    await waitUntil(async () => {
      call = await callTo(number)
      return call !== undefined && !['queued', 'ringing', 'in_progress'].includes(call.status)
    })
    return call
  }
  const speaks = (phone: WirePhone): Promise<void> => waitUntil(async () => phone.heard().speechMs > 0)

  const holds: Readonly<Record<string, [hold: (phone: WirePhone) => Promise<Answered>, resume: typeof offers]>> = {
    'one way (sendonly), and back by an offer': [(phone) => phone.reinvite({ direction: 'sendonly' }), offers],
    'both ways (inactive), and back by an offer': [(phone) => phone.reinvite({ direction: 'inactive' }), offers],
    'by an address of zeros (RFC 2543), and back by an offer': [
      (phone) => phone.reinvite({ address: '0.0.0.0' }),
      offers,
    ],
    'as CUCM and CUBE do it, and back by an INVITE without an offer': [
      (phone) => phone.reinviteWithoutOffer({ direction: 'inactive' }),
      (phone) => phone.reinviteWithoutOffer({ direction: 'sendrecv' }),
    ],
  }
  await Promise.all(
    Object.entries(holds).map(async ([way, [hold, resume]]) => {
      const number = await addNumber()
      const phone = await WirePhone.start(t, sipPort)
      await phone.call(number)
      await speaks(phone)
      t.equal((await hold(phone)).status, 200, way)
      await sleep(500)
      // What was sent before has come, though nobody may have had the time to read it.
      do await turn()
      while (phone.heard().packets > 0)
      await sleep(HOLD_MS)
      t.notOk(phone.isLeft, `held ${way}: the call is still there after ${HOLD_MS / 1_000} s`)
      const { packets } = phone.heard()
      t.equal(packets, 0, `held ${way}: nobody is talked to`)
      const resumed = await resume(phone)
      t.equal(resumed.status, 200)
      t.notMatch(resumed.sdp, /a=(inactive|recvonly)/, `held ${way}: both ways again`)
      let speechMs = 0
      const spokenTo = waitUntil(async () => {
        speechMs += phone.heard().speechMs
        return speechMs > 1_500
      })
      await t.resolves(spokenTo, `held ${way}: what was being said is said again`)
      await phone.hangUp()
      t.match(await over(number), { status: 'completed', end_reason: 'caller_hangup' }, `held ${way}`)
    }),
  )
})

type Answered = { status: number; sdp: string }

function offers(phone: WirePhone): Promise<Answered> {
  return phone.reinvite({ direction: 'sendrecv' })
}
