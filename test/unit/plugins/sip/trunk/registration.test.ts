import t from 'tap'
import type { OutgoingRequest, SipRequest } from '../../../../../plugins/sip/message/message.ts'
import { headerOf } from '../../../../../plugins/sip/message/message.ts'
import type { Protocol } from '../../../../../plugins/sip/transport/flow.ts'
import { Registration } from '../../../../../plugins/sip/trunk/registration.ts'
import type { Target } from '../../../../../plugins/sip/trunk/targets.ts'
import { ActiveTrunk } from '../../../../../plugins/sip/trunk/trunk-table.ts'
import type { Trunk, TrunkAttempt } from '../../../../../runtime/plugin-sdk/telephony/trunk.ts'
import { DEFAULT_TRUNK_SETTINGS } from '../../../../../runtime/plugin-sdk/telephony/trunk-settings.ts'
import { answerTo, makeWire } from '../../../../system/plugins/sip/support/wire.ts'

const TRUNK: Trunk = {
  ...{
    id: 't',
    workspaceId: 'w',
    name: 'main',
    host: 'sip.example.com',
    transport: 'udp',
    tlsCa: undefined,
    register: true,
  },
  ...{
    username: 'aurora',
    password: 'secret',
    allowedAddresses: [],
    internalAddresses: [],
    codecs: ['PCMU'],
    countries: [],
  },
  ...{ maxConcurrentCalls: 1, maxCallsPerSecond: 1, settings: DEFAULT_TRUNK_SETTINGS, tlsKey: undefined },
}

const TARGET = { protocol: 'udp' as const, address: '192.0.2.9', port: 5060 }

/** A trunk we register with, seen from its end of the wire. */
async function registered(
  trunk: Partial<Trunk> = {},
  targets: readonly Target[] = [TARGET],
  protocol: Protocol = 'udp',
) {
  const states: number[] = []
  const attempts: TrunkAttempt[] = []
  const wire = makeWire({})
  const active = new ActiveTrunk({ ...TRUNK, ...trunk }, 0)
  active.targets = targets
  const registration = new Registration({
    active,
    ...{ transactions: wire.transactions, timers: wire.timers, clock: wire.timers, token: wire.context.token },
    flow: async ({ address }) => ({ ...wire.flow, address, protocol }),
    state: (status) => states.push(status),
    contacted: (attempt) => attempts.push(attempt),
  })
  const settle = () => new Promise(setImmediate)
  await settle()
  const answer = async (status: number, headers: readonly string[] = []) => {
    wire.arrive(answerTo(wire.sent.at(-1), status, { tag: 'r', headers }))
    await settle()
  }
  const pass = async (ms: number) => {
    wire.timers.advance(ms)
    await settle()
  }
  return { ...wire, registration, states, attempts, answer, pass }
}

const expires = (request: SipRequest | OutgoingRequest | undefined): string | undefined =>
  request && headerOf(request, 'expires')

t.test('a registration is made anew at half its time, and in any case before it is over', async (t) => {
  for (const [granted, againMs] of [
    [300, 150_000],
    [60, 30_000],
    [30, 20_000],
    [10, 8_000],
  ] as const) {
    const { answer, pass, sent } = await registered()
    await answer(200, [`Contact: <sip:patchbay@192.0.2.1:5060>;expires=${granted}`])
    await pass(againMs - 100)
    t.equal(sent.length, 1, `${granted} s`)
    await pass(200)
    t.equal(sent.length, 2, `${granted} s`)
  }
})

t.test('a registrar that takes no registration so short gets a longer one (section 10.2.8)', async (t) => {
  const { answer, last, sent, states } = await registered()
  t.equal(expires(last('REGISTER')), '300')
  await answer(423, ['Min-Expires: 600'])
  t.equal(expires(last('REGISTER')), '600')
  await answer(200)
  t.same(states, [200])
  const stubborn = await registered()
  await stubborn.answer(423)
  t.same(stubborn.states, [423])
  t.equal(stubborn.sent.length, 1)
  t.equal(sent.length, 2)
})

t.test('each REGISTER is the next in one sequence, and the last takes it back', async (t) => {
  const { answer, pass, sent, last, registration } = await registered()
  await answer(200)
  await pass(150_000)
  await answer(200)
  registration.stop()
  t.equal(expires(last('REGISTER')), '0')
  t.equal(new Set(sent.map(({ callId }) => callId)).size, 1)
  const numbers = sent.map(({ cseq }) => cseq.number)
  t.same(numbers, [1, 2, 3])
})

t.test('a trunk that does not answer is asked again and again, ever less often', async (t) => {
  const { pass, sent, states } = await registered()
  const tries: number[] = []
  for (let s = 0; s < 300; s++) {
    const branches = new Set(sent.map(({ vias }) => vias[0]?.params.get('branch'))).size
    if (branches > tries.length) tries.push(s)
    await pass(1_000)
  }
  t.same(states, [0])
  t.ok(tries.length >= 4, tries.join())
  const gaps = tries.slice(1).map((at, i) => at - (tries[i] ?? 0))
  t.same(
    gaps,
    [...gaps].sort((a, b) => a - b),
  )
})

t.test('a registrar that does not answer is left for the next address at once', async (t) => {
  const second = { ...TARGET, address: '192.0.2.10' }
  const { pass, sent, answer, states } = await registered({}, [TARGET, second])
  await pass(33_000)
  t.ok(sent.length > 1)
  await answer(200)
  t.same(states, [200])
})

t.test('between two registrations empty lines keep the way open', async (t) => {
  const { answer, pass, registration, pings } = await registered()
  await answer(200)
  await pass(55_000)
  t.same(
    pings.map((atMs) => atMs % 1_000_000),
    [25_000, 50_000],
  )
  registration.stop()
  await pass(55_000)
  t.equal(pings.length, 2)
})

t.test('a lost connection is registered over anew, without waiting for the time', async (t) => {
  const { answer, pass, sent, registration } = await registered(
    { transport: 'tcp' },
    [{ ...TARGET, protocol: 'tcp' }],
    'tcp',
  )
  await answer(200)
  registration.lost('tcp', '192.0.2.77', 5060)
  await pass(5_000)
  t.equal(sent.length, 1, 'somebody else')
  registration.lost('tcp', '192.0.2.9', 5060)
  await pass(1_100)
  t.equal(sent.length, 2)
})

t.test('each registration is of one instance, so that another node takes its place (RFC 5626)', async (t) => {
  const { last } = await registered()
  t.match(
    headerOf(last('REGISTER'), 'contact'),
    /^<sip:aurora@[^>]+>;\+sip\.instance="<urn:uuid:[0-9a-f-]{36}>";reg-id=1$/,
  )
  t.equal(headerOf(last('REGISTER'), 'supported'), 'path, outbound')
})

t.test('every answer is told, also one that changes nothing', async (t) => {
  const { answer, pass, attempts, states } = await registered({ register: false })
  await answer(404)
  await pass(30_000)
  await answer(200)
  t.match(attempts, [
    { method: 'OPTIONS', ok: true, status: 404 },
    { method: 'OPTIONS', ok: true, status: 200 },
  ])
  t.same(states, [200], 'whoever answers is there')
})
