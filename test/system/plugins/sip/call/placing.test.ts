import t from 'tap'
import { headerOf } from '../../../../../plugins/sip/message/message.ts'
import { freePort } from '../../../../support/sip/sip-peers.ts'
import { accepted, startCarrier, startPeer, trunkOf } from '../support/carrier.ts'

/** Where a call goes when not everybody it is brought to is there: on real sockets. */

const srv = (name: string, port: number, priority: number) => ({ name, port, priority, weight: 10 })
const NAME = { 'sip.example.test': ['127.0.0.1'], 'one.example.test': ['127.0.0.1'], 'two.example.test': ['127.0.0.1'] }

t.test('a dead first server of the SRV list costs seconds, not the call; the next call skips it', async (t) => {
  const live = await startPeer(t, (request) => accepted(request))
  const dead = await startPeer(t, () => undefined)
  const { dial } = await startCarrier(t, [trunkOf({ name: 'main', host: 'sip.example.test' })], {
    resolve: NAME,
    srv: {
      '_sip._udp.sip.example.test': [srv('two.example.test', live.port, 20), srv('one.example.test', dead.port, 10)],
    },
  })
  const first = await dial('main')
  t.ok(first.leg, 'before the caller has waited too long')
  const asked = dead.requests.length
  t.ok(asked > 0)
  first.leg?.close('done')
  await live.saw('BYE')
  const second = await dial('main', '+14155550178', 'second')
  t.ok(second.leg)
  t.equal(dead.requests.length, asked)
  second.leg?.close('done')
})

t.test('whoever is overloaded sends the call on; whoever is busy does not', async (t) => {
  let status = 503
  const first = await startPeer(t, ({ method }) => ({ status: method === 'INVITE' ? status : 200 }))
  const second = await startPeer(t, (request) => accepted(request))
  const { dial, carrier } = await startCarrier(t, [trunkOf({ name: 'main', host: 'sip.example.test' })], {
    resolve: NAME,
    srv: {
      '_sip._udp.sip.example.test': [srv('one.example.test', first.port, 1), srv('two.example.test', second.port, 2)],
    },
  })
  const placed = await dial('main')
  t.ok(placed.leg)
  placed.leg?.close('done')
  status = 486
  t.match(await dial('main', '+14155550178', 'second'), { failure: 'busy' })
  t.equal(second.requests.filter(({ method }) => method === 'INVITE').length, 1)
  const state = carrier.trunkState('main')
  t.match(state, { attempts: 3, answered: 1, asr: 1 / 3, activeCalls: 0 })
  t.same([...(state?.byStatus ?? [])].sort(), [
    [200, 1],
    [486, 1],
    [503, 1],
  ])
})

t.test(
  "a trunk that fails hands the call to the one named as its fallback; a dead one alone is the carrier's fault",
  async (t) => {
    const live = await startPeer(t, (request) => accepted(request))
    const dead = await freePort()
    const { dial } = await startCarrier(t, [
      trunkOf({ name: 'first', host: `127.0.0.1:${dead}` }, { fallback_trunk: 'second' }),
      trunkOf({ name: 'second', host: `127.0.0.1:${live.port}` }),
      trunkOf({ name: 'lonely', host: `127.0.0.1:${dead}`, transport: 'tcp' }),
    ])
    const placed = await dial('first')
    t.ok(placed.leg)
    t.match(placed.figures.at(-1), { trunk: 'second' })
    placed.leg?.close('done')
    const lonely = await dial('lonely', '+14155550178', 'lonely')
    t.match(lonely, { failure: 'carrier', detail: /trunk "lonely" can not be reached/ })
  },
)

t.test(
  'a dead trunk is left alone for a minute where another can be asked, and so is one that asks for it',
  async (t) => {
    const live = await startPeer(t, (request) => accepted(request))
    const dead = await startPeer(t, () => undefined)
    const busy = await startPeer(t, ({ method }) =>
      method === 'INVITE' ? { status: 503, headers: ['Retry-After: 300'] } : { status: 200 },
    )
    const { dial } = await startCarrier(t, [
      trunkOf({ name: 'dead', host: `127.0.0.1:${dead.port}` }, { fallback_trunk: 'live' }),
      trunkOf({ name: 'busy', host: `127.0.0.1:${busy.port}` }, { fallback_trunk: 'live' }),
      trunkOf({ name: 'live', host: `127.0.0.1:${live.port}` }),
    ])
    for (const [trunk, peer] of [
      ['dead', dead],
      ['busy', busy],
    ] as const) {
      for (const i of [1, 2, 3]) {
        const placed = await dial(trunk, '+14155550177', `${trunk}-${i}`)
        t.match(placed.figures.at(-1), { trunk: 'live' })
        placed.leg?.close('done')
      }
      const asked = new Set(peer.requests.filter(({ method }) => method === 'INVITE').map(({ callId }) => callId))
      t.equal(asked.size, 1, `${trunk} was asked once`)
    }
  },
)

t.test("a redirection is followed to the trunk's own hosts and no further", async (t) => {
  const leads = (host: string) => (to: string) => `Contact: <sip:${to}@${host}>`
  let contact = leads('127.0.0.1')('+14155550188')
  const peer = await startPeer(t, (request) => {
    if (request.method !== 'INVITE') return { status: 200 }
    return request.uri.user === '+14155550188' ? accepted(request) : { status: 302, headers: [contact] }
  })
  const { dial } = await startCarrier(t, [trunkOf({ name: 'main', host: `127.0.0.1:${peer.port}` })])
  const placed = await dial('main')
  t.ok(placed.leg)
  placed.leg?.close('done')
  contact = leads('evil.example')('+14155550188')
  t.match(await dial('main', '+14155550178', 'second'), { failure: 'carrier', detail: /302/ })
})

t.test('a number that a redirection leads to is judged as one that is dialled', async (t) => {
  let user = ''
  let more = ''
  const peer = await startPeer(t, (request) => {
    if (request.method !== 'INVITE') return { status: 200 }
    if (request.uri.user !== '+14155550177') return accepted(request)
    return { status: 302, headers: [`Contact: <sip:${user}@127.0.0.1:${peer.port}${more}>`] }
  })
  const { dial, carrier } = await startCarrier(t, [trunkOf({ name: 'main', host: `127.0.0.1:${peer.port}` })])
  const invited = () => peer.requests.filter(({ method }) => method === 'INVITE').map(({ uri }) => uri)
  const refused = [
    ['+19005551234', /302 led elsewhere: .*premium/],
    ['19005551234', /premium/],
    ['9005551234', /premium/],
    ['0019005551234', /premium/],
    ['+19005551234;npdi', /premium/],
    ['+8816123456789', /premium-rate and satellite/],
    ['+442079460018', /GB is not among the countries/],
    ['911', /emergency/],
    ['a%3Eb', /neither a number nor an extension/],
    ['99999999999999', /E\.164/],
  ] as const
  for (const [i, [led, why]] of refused.entries()) {
    user = led
    t.match(await dial('main', undefined, `refused-${i}`), { failure: 'carrier', detail: why }, led)
  }
  t.same([...new Set(invited().map((uri) => uri.user))], ['+14155550177'], 'nobody else was called')
  const counted = [...carrier.refusals.values()].reduce((sum, count) => sum + count, 0)
  t.equal(counted, refused.length, 'each is counted as a refusal')

  user = '14155550188'
  more = ';method=MESSAGE;maddr=192.0.2.66?Subject=hi'
  const placed = await dial('main', undefined, 'allowed')
  t.ok(placed.leg)
  const last = invited().at(-1)
  t.equal(last?.text, `sip:14155550188@127.0.0.1:${peer.port}`, 'what is sent is written here, of user and host alone')
  placed.leg?.close('done')
})

t.test('an account is presented as the trunk wants it', async (t) => {
  const peer = await startPeer(t, (request) => accepted(request))
  const { dial } = await startCarrier(t, [
    trunkOf(
      { name: 'main', host: `127.0.0.1:${peer.port}` },
      {
        ...{
          from_user: 'acme',
          from_domain: 'acme.example',
          contact_user: '5550100',
          contact_domain: 'sbc.acme.example',
        },
        ...{ caller_identity: 'pai', tech_prefix: '99*', headers: { 'X-Account': '42' } },
      },
    ),
    trunkOf({ name: 'private', host: `127.0.0.1:${peer.port}` }, { privacy: true }),
  ])
  const placed = await dial('main')
  const invite = await peer.saw('INVITE')
  t.equal(invite.uri.user, '99*14155550177')
  t.match(invite.from.uri.text, 'sip:acme@acme.example')
  t.match(headerOf(invite, 'p-asserted-identity'), '<sip:+14155550100@acme.example>')
  t.match(headerOf(invite, 'contact'), 'sip:5550100@sbc.acme.example')
  t.equal(headerOf(invite, 'x-account'), '42')
  placed.leg?.close('done')
  const hidden = await dial('private', '+14155550178', 'second')
  const second = await peer.saw('INVITE', 2)
  t.match(headerOf(second, 'from'), '"Anonymous" <sip:anonymous@anonymous.invalid>')
  t.equal(headerOf(second, 'privacy'), 'id')
  t.match(headerOf(second, 'p-asserted-identity'), '+14155550100')
  hidden.leg?.close('done')
})

t.test('requests are led over an outbound proxy', async (t) => {
  const proxy = await startPeer(t, (request) => accepted(request))
  const main = trunkOf({ name: 'main', host: 'pbx.example.test' }, { outbound_proxy: `127.0.0.1:${proxy.port}` })
  const { dial } = await startCarrier(t, [main])
  const placed = await dial('main')
  const invite = await proxy.saw('INVITE')
  t.equal(invite.uri.host, 'pbx.example.test')
  t.equal(headerOf(invite, 'route'), `<sip:127.0.0.1:${proxy.port};lr>`)
  placed.leg?.close('done')
})

t.test(
  'names that are slow to be found hold up the calls of their own trunk alone, and whoever changes another',
  async (t) => {
    const peer = await startPeer(t, (request) => accepted(request))
    const found = Promise.withResolvers<string[]>()
    const slow = trunkOf({ name: 'slow', host: `slow.example.test:${peer.port}` })
    const quick = trunkOf({ name: 'quick', host: `127.0.0.1:${peer.port}` })
    const { dial, change } = await startCarrier(t, [], { resolve: { 'slow.example.test': found.promise } })
    await dial('nobody')
    await change([slow, quick])
    const waiting = dial('slow')
    const placed = await dial('quick', '+14155550178', 'second')
    t.ok(placed.leg)
    placed.leg?.close('done')
    await change([slow])
    t.match(await dial('quick', '+14155550178', 'third'), { failure: 'carrier', detail: /there is no trunk "quick"/ })
    found.resolve(['127.0.0.1'])
    const late = await waiting
    t.ok(late.leg)
    late.leg?.close('done')
  },
)
