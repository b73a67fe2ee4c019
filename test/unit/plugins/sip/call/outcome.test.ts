import t from 'tap'
import { blockOf, causeOf, failureOf } from '../../../../../plugins/sip/call/outcome.ts'
import type { SipResponse } from '../../../../../plugins/sip/message/message.ts'
import { outcomeOfFailure } from '../../../../../runtime/plugin-sdk/telephony/outcome.ts'
import { answerTo, requestOf } from '../../../../system/plugins/sip/support/wire.ts'

const ended = (status: number, reason = '', q850?: number) => {
  const { failure, detail, elsewhere } = failureOf({ status, reason, q850 })
  return { ...outcomeOfFailure(failure, detail), elsewhere }
}

t.test('a call that was not to be has the status, the reason and the sentence of its last answer', async (t) => {
  t.match(ended(486), { status: 'busy', error: 'SIP error: 486 Busy Here' })
  t.match(ended(480), { status: 'no_answer', error: 'SIP error: 480 Temporarily Unavailable' })
  t.match(ended(603, 'Decline'), { status: 'failed', endReason: 'rejected' })
  t.match(ended(404, 'Not\x07 Found'), { endReason: 'invalid_number', error: /^SIP error: 404 Not Found;/ })
  t.match(ended(407, 'Proxy'), { endReason: 'carrier_error', error: /username or password/ })
  t.match(ended(503), { endReason: 'carrier_error', elsewhere: true })
  t.match(ended(486), { elsewhere: false })
})

t.test('the cause of the network says more than a status that many things share', async (t) => {
  t.match(ended(480, '', 17), { status: 'busy', error: /Q\.850 cause 17/ })
  t.match(ended(503, '', 1), { endReason: 'invalid_number', elsewhere: false })
  t.match(ended(480, '', 34), { endReason: 'carrier_error', elsewhere: true })
  t.match(ended(500, '', 16), { endReason: 'carrier_error' })
  t.match(ended(403, '', 17), { endReason: 'carrier_error' }, 'a trunk that refuses us is no callee')
})

t.test('only a person whose phone rang refuses a call: engines and carriers block it', async (t) => {
  const answer = (status: number, ...headers: string[]) =>
    answerTo(requestOf('INVITE'), status, { tag: 'b', headers }) as SipResponse
  const [person, machine] = [true, false]
  t.equal(blockOf(answer(603), person), undefined)
  t.equal(blockOf(answer(480, 'Reason: Q.850;cause=21'), person), undefined)
  t.equal(blockOf(answer(486), machine), undefined)
  t.equal(blockOf(answer(603), machine), '')
  t.equal(blockOf(answer(480, 'Reason: Q.850;cause=21'), machine), '')
  t.equal(
    blockOf(answer(608, 'Call-Info: <https://x.example/j>;purpose=jwscard'), person),
    '<https://x.example/j>;purpose=jwscard',
  )
  t.match(blockOf(answer(603, 'X-Twilio-Error: 32203 Call blocked as potential fraud'), person), /32203/)
  t.match(
    blockOf(answer(603, 'Reason: SIP;cause=603;text="v=analytics1;url=https://carrier.example/"'), person),
    /analytics1/,
  )
  t.match(failureOf({ status: 608, reason: 'Rejected', q850: undefined, block: '' }), {
    failure: 'carrier',
    detail: /blocked the call/,
  })
})

t.test('a Reason header is read wherever it stands among others (RFC 3326)', async (t) => {
  const cause = (...values: string[]) => causeOf({ headers: values.map((value) => ({ name: 'reason', value })) })
  t.equal(cause('Q.850;cause=17;text="User busy"'), 17)
  t.equal(cause('SIP;cause=200;text="Q.850;cause=3"', 'q.850 ;cause = 31'), 31)
  t.equal(cause('SIP;cause=480, Q.850;text=x;cause=18'), 18)
  t.equal(cause('Q.850;cause=999'), undefined)
  t.equal(cause('SIP;cause=480'), undefined)
})
