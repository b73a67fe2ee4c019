import t from 'tap'
import { headerOf, type SipResponse } from '../../../../../plugins/sip/message/message.ts'
import { systemTimers } from '../../../../../plugins/sip/transaction/timers.ts'
import type { LegEndReason } from '../../../../../runtime/call/types/leg.ts'
import { NO_DIAL_RULES } from '../../../../../runtime/dialing/dial-policy.ts'
import type { Teardown } from '../../../../support/instance/services.ts'
import { startCaller, startCarrier, takeCalls, trunkOf } from '../support/carrier.ts'

/** What a caller asks for within a call and outside of one, and a call that is held by a peer which is gone. */

/** How much faster than the clock the instance waits where a test says so. */
const FASTER = 200
const TO = '+14155550100'
const description = (version: number, direction: string): string =>
  [
    ...['v=0', `o=- 1 ${version} IN IP4 127.0.0.1`, 's=-', 'c=IN IP4 127.0.0.1', 't=0 0'],
    ...['m=audio 9 RTP/AVP 0', `a=${direction}`, ''],
  ].join('\r\n')

/** A call that is taken, and what its caller says next. */
async function talking(t: Teardown) {
  const { carrier, port } = await startCarrier(t, [trunkOf({ name: 'peer', host: '127.0.0.1:9' })])
  const ended = Promise.withResolvers<LegEndReason>()
  const ignore = (): void => undefined
  await carrier.receive(async (call) => {
    const leg = await call.accept({ callId: 'in', trunk: 'peer', rules: NO_DIAL_RULES })
    leg?.start({ audio: ignore, text: ignore, dtmf: ignore, played: ignore, ended: ended.resolve })
    leg?.answer()
  }, new AbortController().signal)
  const caller = await startCaller(t, port)
  const { callId, to } = await caller.call(TO, [], description(1, 'sendrecv'))
  const tag = to.params.get('tag')
  let sequence = 1
  return {
    caller,
    ended: ended.promise,
    hangUp: () => carrier.hangup('in'),
    /** Resolves with the final answer; that of an INVITE is acknowledged. */
    async ask(method: string, lines: readonly string[] = [], body = ''): Promise<SipResponse> {
      const number = ++sequence
      const head = (branch: string): string[] => [
        `Via: SIP/2.0/UDP 127.0.0.1:${caller.port};branch=z9hG4bK${branch}${number};rport`,
        ...[`Call-ID: ${callId}`, `To: <sip:${TO}@127.0.0.1>;tag=${tag}`],
      ]
      caller.send(method, TO, [...head(method), `CSeq: ${number} ${method}`, ...lines], body)
      const answer = await caller.answer(callId, number)
      if (method === 'INVITE') caller.send('ACK', TO, [...head('ack'), `CSeq: ${number} ACK`])
      return answer
    },
  }
}

t.test('a caller who names another Contact in a re-INVITE gets the requests that follow there', async (t) => {
  const { caller, ask, hangUp } = await talking(t)
  const moved = [`Contact: <sip:moved@127.0.0.1:${caller.port};line=2>`]
  t.equal((await ask('INVITE', moved, description(1, 'sendrecv'))).status, 200)
  await hangUp()
  t.equal((await caller.saw('BYE')).uri.text, `sip:moved@127.0.0.1:${caller.port};line=2`)
})

t.test('messages, subscriptions and news that nobody asked for are refused, and the call goes on', async (t) => {
  const { ask, hangUp, caller } = await talking(t)
  const message = await ask('MESSAGE', ['Content-Type: text/plain'], 'hello')
  t.equal(message.status, 405)
  t.match(headerOf(message, 'allow'), /INVITE.*BYE/)
  t.equal((await ask('SUBSCRIBE', ['Event: dialog', 'Expires: 60'])).status, 405)
  t.equal((await ask('NOTIFY', ['Event: message-summary', 'Subscription-State: active'])).status, 489)
  t.equal((await ask('INVITE', [], description(1, 'sendrecv'))).status, 200, 'the call goes on')
  await hangUp()
  await caller.saw('BYE')
})

t.test('the same outside of a call, of a peer that is known', async (t) => {
  const { carrier, port } = await startCarrier(t, [trunkOf({ name: 'peer', host: '127.0.0.1:9' })])
  await takeCalls(carrier)
  const caller = await startCaller(t, port)
  for (const [method, status] of [
    ['OPTIONS', 200],
    ['MESSAGE', 405],
    ['SUBSCRIBE', 405],
    ['PUBLISH', 405],
    ['NOTIFY', 481],
  ] as const) {
    const via = `Via: SIP/2.0/UDP 127.0.0.1:${caller.port};branch=z9hG4bK${method};rport`
    caller.send(method, TO, [via, `Call-ID: ${method}`, ...(method === 'NOTIFY' ? ['Event: message-summary'] : [])])
    const answer = await caller.answer(method, 1)
    t.equal(answer.status, status, method)
    t.match(headerOf(answer, 'allow'), /INVITE/, `${method}: with what is allowed`)
  }
})

t.test('a held call is asked for after five minutes, and ended when its caller knows nothing of it', async (t) => {
  const { after } = systemTimers
  t.intercept(systemTimers, 'after', { value: (ms: number, call: () => void) => after(ms / FASTER, call) })
  const { caller, ask, ended } = await talking(t)
  caller.says('INVITE', 481)
  await ask('INVITE', [], description(2, 'inactive'))
  await caller.saw('INVITE')
  t.equal(await ended, 'connection_lost')
})
