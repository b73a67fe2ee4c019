import t from 'tap'
import { callWhen, isOver, linkWorker } from '../../../support/phone/phone.ts'
import { KAMAILIO_PASSWORD, startKamailio } from '../../../support/sip/kamailio.ts'
import { freePort, skipWithout, startBaresip } from '../../../support/sip/sip-peers.ts'
import { addSipNumber, startSipApi } from '../../../support/sip/sip-phone.ts'
import { accepted, startCarrier, startPeer, trunkOf } from './support/carrier.ts'

/** Calls through a registrar that stays in their way (Record-Route): Kamailio and baresip. */

const skip = skipWithout('kamailio', 'baresip')
/** Longer than any call lasts: a line on which nothing comes any more is lost. */
const SILENCE = new Int16Array(8_000 * 120)

async function until<T>(read: () => Promise<T | undefined>): Promise<T> {
  for (;;) {
    const found = await read()
    if (found !== undefined) return found
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
}

t.test('a trunk that is a registrar and a proxy', { skip }, async (t) => {
  const phonePort = await freePort()
  const kamailio = await startKamailio(t, { phone: phonePort })
  const sip = await startSipApi(t)
  const { user } = sip
  await linkWorker(t, sip.api)
  const { number, agentId } = await addSipNumber(sip, {
    name: 'main',
    host: `127.0.0.1:${kamailio.port}`,
    username: 'aurora',
    password: KAMAILIO_PASSWORD,
    register: true,
  })
  const [trunk] = (await user.client.get('/trunks')).body
  await user.client.patch(`/trunks/${trunk.trunk_id}`, { body: { default_agent_id: agentId } })
  const state = () => user.client.get(`/trunks/${trunk.trunk_id}`).then(({ body }) => body.state)
  await until(async () => ((await state())?.contact_status === 200 ? true : undefined))
  const phone = await startBaresip(t, { says: SILENCE, autoAnswer: true, port: phonePort })

  t.test('brings calls to the account that is registered there', async (t) => {
    phone.command('dial', `sip:aurora@127.0.0.1:${kamailio.port}`)
    await phone.event('CALL_ESTABLISHED')
    const call = await until(async () => (await user.client.get('/calls/logs')).body.items[0])
    t.equal((await user.client.post(`/calls/${call.call_log_id}/hangup`)).status, 200)
    await phone.event('CALL_CLOSED')
    const over = await callWhen(user, call.call_log_id, isOver)
    t.match(over, {
      status: 'completed',
      end_reason: 'api_hangup',
      carrier: { trunk: 'main', released_by: 'patchbay' },
    })
  })

  t.test('takes calls out, for the password, and ends them when the callee does', async (t) => {
    const established = () => phone.events.filter(({ type }) => type === 'CALL_ESTABLISHED').length
    const before = established()
    const { body } = await user.client.post('/calls/outbound_call', {
      body: { agent_phone_number: number, phone_number_to_dial: '+14155550177' },
    })
    await until(async () => (established() > before ? true : undefined))
    await callWhen(user, body.call_log_id, ({ status }) => status === 'in_progress')
    phone.command('hangup')
    const over = await callWhen(user, body.call_log_id, isOver)
    t.match(over, {
      status: 'completed',
      end_reason: 'caller_hangup',
      carrier: { released_by: 'callee', sip_status: 200 },
    })
    // Written once the last message of the call is there.
    const ladder = await until(
      async () => (await user.client.get(`/calls/${body.call_log_id}/sip`)).body.ladder || undefined,
    )
    t.match(ladder, /INVITE \(SDP\)[\s\S]*407 [\s\S]*ACK[\s\S]*INVITE \(SDP\)[\s\S]*200 /)
  })

  t.test('whose end is noticed, and whose calls then fail as its own fault', async (t) => {
    await kamailio.stop()
    const { body } = await user.client.post('/calls/outbound_call', {
      body: { agent_phone_number: number, phone_number_to_dial: '+14155550177' },
    })
    const over = await callWhen(user, body.call_log_id, isOver)
    t.match(over, { status: 'failed', end_reason: 'carrier_error' })
  })
})

t.test('a proxy that is second in its SRV list, behind one that is dead', { skip }, async (t) => {
  const callee = await startPeer(t, (request) => accepted(request))
  const kamailio = await startKamailio(t, { phone: callee.port })
  const host = 'sip.example.test'
  const server = (name: string, port: number, priority: number) => ({ name, port, priority, weight: 1 })
  const names = ['dead.example.test', 'live.example.test', host]
  const { dial } = await startCarrier(
    t,
    [trunkOf({ name: 'main', host, username: 'aurora', password: KAMAILIO_PASSWORD })],
    {
      resolve: Object.fromEntries(names.map((name) => [name, ['127.0.0.1']])),
      srv: {
        [`_sip._udp.${host}`]: [
          server('dead.example.test', await freePort(), 1),
          server('live.example.test', kamailio.port, 2),
        ],
      },
    },
  )
  const placed = await dial('main')
  t.ok(placed.leg, `it is answered: ${placed.detail}`)
  placed.leg?.close('done')
  const bye = await callee.saw('BYE')
  t.ok(bye, 'and its end goes the same way')
})
