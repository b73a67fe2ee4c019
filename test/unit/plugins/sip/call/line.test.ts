import dgram from 'node:dgram'
import { setTimeout as sleep } from 'node:timers/promises'
import t from 'tap'
import type { Leg, LegEndReason } from '../../../../../runtime/call/types/leg.ts'
import { NO_DIAL_RULES } from '../../../../../runtime/dialing/dial-policy.ts'
import { encodeG711 } from '../../../../../runtime/media/codecs/g711.ts'
import { writeRtp } from '../../../../../runtime/media/line/rtp-packet.ts'
import type { Teardown } from '../../../../support/instance/services.ts'
import { startBadLine } from '../../../../support/phone/bad-line.ts'
import { WirePhone } from '../../../../support/phone/wire-phone.ts'
import { startCarrier, trunkOf } from '../../../../system/plugins/sip/support/carrier.ts'

/** What happens to a line in the middle of a call, on real sockets: the call goes on, or ends with its true reason. */

const NUMBER = '+14155550100'
/** Longer than a line may be silent. */
const OUTLASTS_SILENCE_MS = 17_000

interface Taken {
  leg: Leg
  ended: LegEndReason | undefined
}

/** A carrier that takes every call. */
async function startTaking(t: Teardown) {
  const { carrier, port } = await startCarrier(t, [trunkOf({ name: 'main', host: '127.0.0.1:9' })])
  const calls: Taken[] = []
  const ignore = (): void => undefined
  await carrier.receive(async (call) => {
    const leg = await call.accept({
      callId: `line-${calls.length}`,
      trunk: call.trunks?.[0] ?? '',
      rules: NO_DIAL_RULES,
    })
    if (leg === undefined) return
    const taken: Taken = { leg, ended: undefined }
    calls.push(taken)
    leg.start({
      ...{ audio: ignore, text: ignore, dtmf: ignore, played: ignore },
      ended: (reason) => {
        taken.ended = reason
      },
    })
    leg.answer()
  }, new AbortController().signal)
  return { port, calls }
}

async function until(condition: () => boolean): Promise<void> {
  const endMs = performance.now() + 90_000
  while (!condition()) {
    if (performance.now() > endMs) throw new Error(`This never came to be: ${condition}`)
    await sleep(20)
  }
}

const hears = (phone: WirePhone): Promise<void> => until(() => phone.heard().packets > 0)

t.test('a call goes on in another codec', async (t) => {
  const { port, calls } = await startTaking(t)
  const phone = await WirePhone.start(t, port)
  await phone.call(NUMBER)
  await hears(phone)
  t.match(await phone.reinvite({ codec: 'pcma' }), { status: 200, sdp: /m=audio \d+ RTP\/AVP 8\r\n/ })
  await sleep(200)
  phone.heard()
  // What was on its way is with the first of these.
  await hears(phone)
  const types = new Set<number>()
  let packets = 0
  await until(() => {
    const heard = phone.heard()
    for (const type of heard.payloadTypes) types.add(type)
    packets += heard.packets
    return packets >= 15
  })
  t.same([...types], [8])
  await phone.hangUp()
  t.equal(calls[0]?.ended, 'caller_hangup')
})

t.test('a call goes on from another port', async (t) => {
  const { port, calls } = await startTaking(t)
  const phone = await WirePhone.start(t, port)
  await phone.call(NUMBER)
  await hears(phone)
  await sleep(300)
  await phone.moveMedia()
  phone.heard()
  await sleep(OUTLASTS_SILENCE_MS)
  t.ok(phone.heard().packets > 300, 'the agent is heard there')
  t.notOk(phone.isLeft)
  await phone.hangUp()
  t.equal(calls[0]?.ended, 'caller_hangup')
})

t.test('a stray packet before the first leads no call astray', async (t) => {
  const { port, calls } = await startTaking(t)
  const phone = await WirePhone.start(t, port)
  const stray = dgram.createSocket('udp4')
  let strays = 0
  stray.on('message', () => strays++)
  t.teardown(() => stray.close())
  await phone.call(NUMBER, async (rtpPort) => {
    const payload = encodeG711('pcmu', new Int16Array(160))
    stray.send(
      writeRtp({ payloadType: 0, marker: true, sequence: 9, timestamp: 9, ssrc: 9, payload }),
      rtpPort,
      '127.0.0.1',
    )
    await sleep(100)
  })
  await hears(phone)
  t.equal(strays, 0)
  await phone.hangUp()
  t.equal(calls[0]?.ended, 'caller_hangup')
})

t.test(
  'with a quarter of all signalling lost, late, doubled and out of order, calls are held, resumed and ended',
  async (t) => {
    const { port, calls } = await startTaking(t)
    const dropped: number[] = []
    for (const seed of [1, 2, 3, 4, 5, 6, 7, 8]) {
      const line = await startBadLine(t, { to: port, loss: 0.25, maxDelayMs: 300, twice: 0.1, seed: 97 * seed })
      const phone = await WirePhone.start(t, line.port)
      await phone.call(NUMBER)
      const taken = calls.at(-1)!
      await hears(phone)
      t.equal((await phone.reinvite({ direction: 'inactive' })).status, 200, `line ${seed}: held`)
      t.equal((await phone.reinvite({ direction: 'sendrecv' })).status, 200, `line ${seed}: resumed`)
      if (seed % 2 === 0) {
        taken.leg.close('done')
        await phone.left()
      } else {
        await phone.hangUp()
        t.equal(taken.ended, 'caller_hangup', `line ${seed}`)
      }
      dropped.push(line.counts.dropped)
    }
    t.equal(calls.length, 8, 'an INVITE that comes again is no second call')
    t.ok(
      dropped.some((count) => count > 2),
      `dropped: ${dropped}`,
    )
  },
)

t.test('a router that gives the signalling another port does not cut the call', async (t) => {
  const { port, calls } = await startTaking(t)
  const line = await startBadLine(t, { to: port })
  const phone = await WirePhone.start(t, line.port)
  await phone.call(NUMBER)
  await hears(phone)
  await line.rebind()
  t.equal((await phone.reinvite({ direction: 'sendrecv' })).status, 200, 'it is heard at the new port')
  calls[0]!.leg.close('done')
  t.ok(await phone.left(), 'and is told there when the call is over')
})

t.test('a call of which nothing comes any more ends as lost', async (t) => {
  const { port, calls } = await startTaking(t)
  const phone = await WirePhone.start(t, port)
  await phone.call(NUMBER)
  await hears(phone)
  await sleep(300)
  phone.fallSilent()
  await phone.left()
  t.equal(calls[0]?.ended, 'connection_lost')
})
