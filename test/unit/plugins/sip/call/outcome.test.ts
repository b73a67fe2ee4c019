import t from 'tap'
import { causeOf, endFigures, endingOf, failureOf } from '../../../../../plugins/sip/call/outcome.ts'
import type { SipResponse } from '../../../../../plugins/sip/message/message.ts'
import { outcomeOfFailure } from '../../../../../runtime/plugin-sdk/telephony/outcome.ts'
import { answerTo, requestOf } from '../../../../system/plugins/sip/support/wire.ts'

const ended = (status: number, reason = '', q850?: number) => {
  const { failure, detail, elsewhere } = failureOf({ status, reason, q850, rangMs: 2_000 })
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
  const ended = (rangMs: number | undefined, status: number, ...headers: string[]) =>
    failureOf(endingOf(answerTo(requestOf('INVITE'), status, { tag: 'b', headers }) as SipResponse, rangMs))
  const [person, app] = [2_000, 300]
  t.match(ended(person, 603), { failure: 'rejected', who: 'callee' })
  t.match(ended(person, 480, 'Reason: Q.850;cause=21'), { failure: 'rejected', who: 'callee' })
  t.match(ended(person, 607), { failure: 'rejected' }, 'their phone has a button for it (RFC 8197)')
  t.match(ended(undefined, 486), { failure: 'busy' })
  for (const rangMs of [undefined, app]) {
    t.match(ended(rangMs, 603), { failure: 'blocked', who: 'network' })
    t.match(ended(rangMs, 607), { failure: 'blocked', who: 'network' })
    t.match(ended(rangMs, 480, 'Reason: Q.850;cause=21'), { failure: 'blocked' })
  }
  t.match(ended(person, 608), { failure: 'blocked', detail: /blocked the call/ })
  t.match(ended(person, 603, 'X-Twilio-Error: 32203 Call blocked as potential fraud'), {
    failure: 'blocked',
    detail: /32203/,
  })
  t.match(ended(person, 403, 'X-Twilio-Error: 32203 Call blocked as potential fraud'), { failure: 'blocked' })
})

t.test('a block keeps where the caller may object, as the network names it', async (t) => {
  const figures = (status: number, ...headers: string[]) =>
    endFigures(endingOf(answerTo(requestOf('INVITE'), status, { tag: 'b', headers }) as SipResponse, undefined))
  t.match(figures(608, 'Call-Info: <https://x.example/j>;purpose=jwscard'), {
    ...{ sipStatus: 608, releasedBy: 'network', cause: 'blocked', redress: 'https://x.example/j' },
  })
  const plus = (text: string) => figures(603, `Reason: Q.850;cause=21;location=RLN;text="${text}"`).redress
  t.equal(plus('v=analytics1;url=https://carrier.example/why'), 'https://carrier.example/why')
  t.equal(plus('v=analytics1;tel=+12155551212;id=7'), '+12155551212')
  t.equal(plus('v=analytics1;email=redress@carrier.example'), 'redress@carrier.example')
  t.equal(plus('v=analytics1;url=javascript:alert(1)'), undefined)
  t.notOk('redress' in figures(486, 'Call-Info: <https://x.example/j>;purpose=icon'))
})

t.test('what we ended ourselves has no status that nobody sent', async (t) => {
  t.match(failureOf({ status: 480, reason: '', ours: 'ring_timeout' }), { failure: 'no_answer', who: 'us' })
  const figures = endFigures({ status: 480, reason: '', ours: 'ring_timeout' })
  t.match(figures, { releasedBy: 'patchbay', cause: 'no_answer' })
  t.notOk('sipStatus' in figures)
})

t.test('a Reason header is read wherever it stands among others (RFC 3326)', async (t) => {
  const cause = (...values: string[]) => causeOf({ headers: values.map((value) => ({ name: 'reason', value })) })
  t.equal(cause('Q.850;cause=17;text="User busy"'), 17)
  t.equal(cause('SIP;cause=200;text="Q.850;cause=3"', 'q.850 ;cause = 31'), 31)
  t.equal(cause('SIP;cause=480, Q.850;text=x;cause=18'), 18)
  t.equal(cause('Q.850;cause=999'), undefined)
  t.equal(cause('SIP;cause=480'), undefined)
})
