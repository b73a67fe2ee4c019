import { pino } from 'pino'
import t from 'tap'
import type { InboundCall } from '../../../../../plugins/sip/call/inbound-call.ts'
import { UserAgent } from '../../../../../plugins/sip/dialog/user-agent.ts'
import { headerOf } from '../../../../../plugins/sip/message/message.ts'
import type { ExtensionTable } from '../../../../../plugins/sip/registrar/extension-table.ts'
import { Challenger } from '../../../../../plugins/sip/transaction/challenger.ts'
import { Gatekeeper } from '../../../../../plugins/sip/transport/gatekeeper.ts'
import type { TrunkTable } from '../../../../../plugins/sip/trunk/trunk-table.ts'
import { FakeTimers } from '../../../../system/plugins/sip/support/fake-timers.ts'
import { makeWire, requestOf, SDP } from '../../../../system/plugins/sip/support/wire.ts'

/** A user agent at the end of a wire, whose other end a trunk knows, or not. */
function makeAgent(knows = true) {
  const calls: InboundCall[] = []
  const clock = new FakeTimers()
  const trunks = {
    from: () => (knows ? [{ admitsInvite: () => true }] : []),
    takesStrangers: false,
    withUsername: () => [],
  } as unknown as TrunkTable
  const gatekeeper = new Gatekeeper({
    ...{ clock, log: pino({ level: 'silent' }) },
    trunkAt: () => (knows ? 'carrier' : undefined),
    takesStrangers: () => false,
  })
  const agent: UserAgent = new UserAgent({
    ...{ gatekeeper, trunks, challenger: new Challenger(clock) },
    extensions: { isEmpty: true, withUsername: () => undefined } as unknown as ExtensionTable,
    registrar: () => {
      throw new Error('Nobody registers here')
    },
    context: () => wire.context,
    invited: (call) => calls.push(call),
  })
  const wire = makeWire({
    request: (transaction) => agent.request(transaction),
    ack: (request) => agent.ack(request),
    cancel: (invite) => agent.cancel(invite),
    admits: (request, flow) => agent.admits(request, flow),
    overloaded: (request, flow) => agent.overloaded(request, flow),
  })
  return { ...wire, calls, gatekeeper }
}

t.test('methods are answered by what is known of them', async (t) => {
  const { arrive } = makeAgent()
  const methods = { OPTIONS: 200, BYE: 481, INFO: 481, NOTIFY: 481, REGISTER: 405, REFER: 405, TELEPORT: 501 }
  for (const [method, status] of Object.entries(methods)) {
    const answer = arrive(requestOf(method))
    t.match(answer, { status }, method)
    t.match(headerOf(answer!, 'allow'), /INVITE/, method)
    t.ok(answer?.to.params.get('tag'), method)
  }
})

t.test('an extension we lack is named, in whatever request insists on it', async (t) => {
  const { arrive, calls } = makeAgent()
  for (const [method, cseq] of [
    ['OPTIONS', 1],
    ['INVITE', 1],
  ] as const) {
    const refused = arrive(requestOf(method, { cseq, headers: ['Require: timer, teleportation', 'Require: x'] }))
    t.match(refused, { status: 420 }, method)
    t.equal(headerOf(refused!, 'unsupported'), 'teleportation, x')
  }
  t.same(calls, [])
  arrive(requestOf('INVITE', { cseq: 2, body: SDP }))
  const tag = calls[0]?.transaction.toTag ?? ''
  t.match(arrive(requestOf('OPTIONS', { cseq: 3, tag, headers: ['Require: x'] })), { status: 420 }, 'in a dialog, too')
  t.match(arrive(requestOf('OPTIONS', { cseq: 4, tag })), { status: 200 })
})

t.test('a dialog is known by both tags', async (t) => {
  const { arrive, calls } = makeAgent()
  arrive(requestOf('INVITE', { body: SDP }))
  const tag = calls[0]?.transaction.toTag ?? ''
  t.match(arrive(requestOf('OPTIONS', { cseq: 2, tag, headers: ['From: <sip:x@192.0.2.9>;tag=y'] })), { status: 481 })
  t.match(arrive(requestOf('BYE', { cseq: 3, tag: `${tag}x` })), { status: 481 })
  t.match(arrive(requestOf('BYE', { cseq: 4, tag })), { status: 200 })
})

t.test('a call that comes over two ways is taken once; a new one of the same dialog is no loop', async (t) => {
  const { arrive, calls } = makeAgent()
  t.match(arrive(requestOf('INVITE', { body: SDP })), { status: 100 })
  t.match(arrive(requestOf('INVITE', { body: SDP, branch: 'z9hG4bKother' })), { status: 482 })
  t.match(arrive(requestOf('INVITE', { body: SDP, cseq: 2 })), { status: 100 })
  t.equal(calls.length, 2)
})

t.test('a URI of a scheme we lack, and an interval that is too short, are refused with what would do', async (t) => {
  const { arrive } = makeAgent()
  const invite = requestOf('INVITE', { headers: ['Supported: timer', 'Session-Expires: 30'] })
  t.match(headerOf(arrive(invite)!, 'min-se'), '90')
  const odd = requestOf('INVITE', { cseq: 2 })
  t.match(arrive({ ...odd, uri: { ...odd.uri, scheme: 'nobody' } }), { status: 416 })
})

t.test('a call that is canceled is over, and the CANCEL of nothing is told so', async (t) => {
  const { arrive, calls, labels } = makeAgent()
  arrive(requestOf('INVITE', { body: SDP }))
  arrive(requestOf('CANCEL', { branch: 'z9hG4bKINVITE1' }))
  t.same(labels(), ['100 INVITE', '200 CANCEL', '487 INVITE'])
  t.ok(calls[0]?.canceled.aborted)
  t.match(arrive(requestOf('CANCEL', { branch: 'z9hG4bKnobody', cseq: 7 })), { status: 481 })
})

t.test('whom no trunk knows gets no answer, but to what belongs to a dialog', async (t) => {
  const { arrive, gatekeeper } = makeAgent(false)
  t.equal(arrive(requestOf('INVITE', { body: SDP })), undefined)
  t.equal(arrive(requestOf('OPTIONS')), undefined)
  t.equal(gatekeeper.refusals.get('unknown_source'), 2)
  t.match(arrive(requestOf('BYE', { tag: 'gone' })), { status: 481 })
})
