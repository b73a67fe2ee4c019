import t from 'tap'
import { callWhen, isOver, linkWorker } from '../../../../support/phone/phone.ts'
import { answerKeepAlive, freePort, skipWithout, startSipp } from '../../../../support/sip/sip-peers.ts'
import { addSipNumber, startSipApi } from '../../../../support/sip/sip-phone.ts'

const skip = skipWithout('sipp')

t.test('calls over a trunk, against sipp', { skip }, async (t) => {
  const sip = await startSipApi(t)
  const { user } = sip
  await linkWorker(t, sip.api)

  let trunks = 0
  const dial = async (scenario: string, more: Record<string, unknown> = {}, to = '+14155550177') => {
    const port = await freePort()
    const name = `peer-${++trunks}`
    let number = ''
    await answerKeepAlive(port, async () => {
      number = (await addSipNumber(sip, { name, host: `127.0.0.1:${port}`, ...more })).number
    })
    const peer = await startSipp(t, { scenario, port })
    const { body } = await user.client.post('/calls/outbound_call', {
      body: { agent_phone_number: number, phone_number_to_dial: to },
    })
    return { peer, callLogId: body.call_log_id as string }
  }

  const outcomes = {
    'outbound/busy': {
      status: 'busy',
      end_reason: 'busy',
      carrier: { sip_status: 486, released_by: 'callee', call_id: /.+/ },
    },
    'outbound/declined': { status: 'failed', end_reason: 'rejected', error: /SIP error: 603 Decline/ },
    'outbound/blocked': {
      status: 'failed',
      end_reason: 'blocked',
      error: /SIP error: 603 Network Blocked.*to object: https:\/\/carrier\.example\/why/,
      carrier: { cause: 'blocked', released_by: 'network', redress: 'https://carrier.example/why' },
    },
    'outbound/not-found': { status: 'failed', end_reason: 'invalid_number', error: /SIP error: 404 Not Found/ },
    'outbound/overloaded': {
      status: 'failed',
      end_reason: 'carrier_error',
      error: /SIP error: 503 Service Unavailable/,
    },
  }
  for (const [scenario, outcome] of Object.entries(outcomes)) {
    t.test(`${scenario.slice(4)} is told as what it is`, async (t) => {
      const { peer, callLogId } = await dial(scenario)
      t.match(await callWhen(user, callLogId, isOver), outcome)
      const { code, errors } = await peer.done
      t.equal(code, 0, errors)
    })
  }

  t.test('an answered call is a conversation until we hang up', async (t) => {
    const { peer, callLogId } = await dial('outbound/answered')
    const greeted = (call: Record<string, unknown>) => JSON.stringify(call.transcript).includes('Hello, this is Ada.')
    t.match(await callWhen(user, callLogId, greeted), { status: 'in_progress' })
    await user.client.post(`/calls/${callLogId}/hangup`)
    t.match(await callWhen(user, callLogId, isOver), { status: 'completed', end_reason: 'api_hangup' })
    const { code, errors } = await peer.done
    t.equal(code, 0, errors)
  })

  t.test('a call is canceled while it rings', async (t) => {
    const { peer, callLogId } = await dial('outbound/canceled')
    await callWhen(user, callLogId, ({ status }) => status === 'ringing')
    await user.client.post(`/calls/${callLogId}/hangup`)
    t.match(await callWhen(user, callLogId, isOver), { status: 'canceled' })
    const { code, errors } = await peer.done
    t.equal(code, 0, errors)
  })

  t.test("a trunk's challenge is answered with its credentials", async (t) => {
    const { peer, callLogId } = await dial('outbound/digest', { username: 'aurora', password: 'secret' })
    await callWhen(user, callLogId, ({ status }) => status === 'in_progress')
    await user.client.post(`/calls/${callLogId}/hangup`)
    const { code, errors } = await peer.done
    t.equal(code, 0, errors)
  })

  t.test('countries that are not allowed, and premium numbers, are not called', async (t) => {
    for (const [to, why] of [
      ['+442079460018', /GB is not among the countries/],
      ['+19005550123', /premium/],
      ['+8816123456789', /premium-rate and satellite/],
    ] as const) {
      const { peer, callLogId } = await dial('outbound/busy', {}, to)
      t.match(await callWhen(user, callLogId, isOver), { status: 'failed', end_reason: 'carrier_error', error: why })
      peer.child.kill('SIGKILL')
    }
  })
})
