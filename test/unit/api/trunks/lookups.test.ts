import { setTimeout } from 'node:timers/promises'
import t from 'tap'
import { admitAddresses, writeAdmitted } from '../../../../api/trunks/address-policy.ts'
import type { HopNames } from '../../../../api/trunks/hops.ts'
import { systemClock } from '../../../../runtime/lib/clock.ts'
import { startTestApi, type TestApi } from '../../../support/instance/api.ts'
import {
  accepted,
  startCarrier,
  startPeer,
  type TestNames,
  trunkOf,
} from '../../../system/plugins/sip/support/carrier.ts'

/** Names that lead elsewhere than they seem to: when a trunk is written, and each time its host is looked up. */

async function workspaces(api: TestApi) {
  await api.signUp()
  const [a, b] = [await api.signUp('A'), await api.signUp('B')]
  let made = 0
  const add = async (user: typeof a, more: Record<string, unknown>): Promise<string> => {
    const body = { name: `t${++made}`, username: 'aurora', password: 'circle of life', ...more }
    const answer = await user.client.post('/trunks', { body })
    if (answer.status !== 201) throw new Error(JSON.stringify(answer.body))
    return answer.body.trunk_id
  }
  return { a, b, add }
}

const policy = (api: TestApi, allowNet: readonly string[] = []) => ({
  store: api.store,
  config: { trunksAllowNet: allowNet },
  clock: systemClock,
  operators: { includes: () => false },
})

t.test(
  'an alias of another workspace’s carrier, and servers within the network, are refused when a trunk is written',
  async (t) => {
    const api = await startTestApi(t)
    const { a, b, add } = await workspaces(api)
    await add(a, { host: '192.0.2.2' })
    const names: HopNames = {
      resolve: async (name) =>
        ({
          'alias.example.com': ['192.0.2.2'],
          'own.example.com': ['203.0.113.9'],
          'inside.example.com': ['10.0.0.5'],
        })[name] ?? [],
      srv: async (name) =>
        ({ '_sip._udp.srv.example.com': ['inside.example.com'], '_sip._udp.far.example.com': ['alias.example.com'] })[
          name
        ] ?? [],
    }
    const write = (host: string, proxy: string | null = null) =>
      writeAdmitted(
        policy(api),
        {
          ...{ id: '0197f3a2-7c1e-7000-8000-0000000000aa', workspaceId: b.workspaceId, host, outbound_proxy: proxy },
          ...{ transport: 'udp', allowed_addresses: [], media_addresses: [] },
        },
        undefined,
        async () => 'written',
        names,
      )
    await t.rejects(write('alias.example.com'), { code: 'trunk_host_taken' })
    await t.rejects(write('far.example.com'), { code: 'trunk_host_taken' })
    await t.rejects(write('own.example.com', 'alias.example.com:5070'), { code: 'trunk_host_taken' })
    await t.rejects(write('srv.example.com'), { code: 'validation' })
    await t.rejects(write('own.example.com', 'inside.example.com'), { code: 'validation' })
    t.equal(await write('own.example.com'), 'written')
  },
)

t.test('a host is sent to only while each lookup leads where its workspace may send', async (t) => {
  const api = await startTestApi(t)
  const { a, b, add } = await workspaces(api)
  const [inner, own, others] = [
    await startPeer(t, accepted),
    await startPeer(t, accepted, 0, '127.0.0.2'),
    await startPeer(t, accepted, 0, '127.0.0.3'),
  ]
  const admit = policy(api, ['127.0.0.2', '127.0.0.3'])
  const [ofA, ofB] = [await add(a, { host: 'a.example.invalid' }), await add(b, { host: 'b.example.invalid' })]
  t.same(await admitAddresses(admit, { id: ofA, workspaceId: a.workspaceId }, 'a.example.invalid', ['127.0.0.3']), [
    '127.0.0.3',
  ])

  const host = 'b.example.invalid'
  const addresses: Record<string, string[]> = {}
  const services: NonNullable<TestNames['srv']> &
    Record<string, { name: string; port: number; priority: number; weight: number }[]> = {}
  const { dial, change } = await startCarrier(
    t,
    [],
    { resolve: addresses, srv: services },
    undefined,
    (trunk, hop, found) => admitAddresses(admit, { id: trunk.id, workspaceId: b.workspaceId }, hop, found),
  )
  const plain = { id: ofB, name: 'b', allowedAddresses: [], internalAddresses: ['127.0.0.2'] }
  let calls = 0
  const call = async () => dial('b', '+14155550177', `call-${++calls}`)
  const refused = async (what: string, address: string) => {
    let { leg, failure, detail } = await call()
    for (let tries = 0; leg !== undefined && tries < 50; tries++) {
      leg.close('completed')
      await setTimeout(100)
      ;({ leg, failure, detail } = await call())
    }
    t.match([failure, detail], ['carrier', new RegExp(`leads to ${address}, which is another workspace's or`)], what)
  }

  services[`_sip._udp.${host}`] = [{ name: 'inner.example.invalid', port: inner.port, priority: 1, weight: 1 }]
  addresses['inner.example.invalid'] = ['127.0.0.1']
  await change([trunkOf({ ...plain, host })])
  await refused('SRV leads to this machine', '127.0.0.1')

  addresses[host] = ['127.0.0.2']
  await change([trunkOf({ ...plain, host: `${host}:${own.port}` })])
  const { leg } = await call()
  t.ok(leg, 'its own carrier takes the call')
  leg?.close('completed')
  await own.saw('BYE')

  addresses[host] = ['127.0.0.1']
  // The lookup that this begins is not waited for: until it is over, calls go where the last one led.
  await change([trunkOf({ ...plain, host: `${host}:${own.port}` })])
  await refused('the name leads elsewhere since', '127.0.0.1')

  addresses[host] = ['127.0.0.3']
  await change([trunkOf({ ...plain, host: `${host}:${others.port}` })])
  await refused('an alias of the other workspace’s carrier', '127.0.0.3')

  const proxied = { ...plain, host: `sip.example.com:5060` }
  await change([trunkOf(proxied, { outbound_proxy: `127.0.0.1:${inner.port}` })])
  await refused('the outbound proxy', '127.0.0.1')
  t.same([inner.requests, others.requests], [[], []])
})

t.test('a dialog leads nowhere that its trunk may not send to', async (t) => {
  const inner = await startPeer(t, accepted)
  const contact = { headers: [`Contact: <sip:x@127.0.0.1:${inner.port}>`] }
  const carrierPeer = await startPeer(t, (request) => ({ ...accepted(request), ...contact }), 0, '127.0.0.2')
  const trunk = trunkOf({
    ...{ name: 'b', host: `127.0.0.2:${carrierPeer.port}` },
    ...{ allowedAddresses: ['127.0.0.0/24'], internalAddresses: ['127.0.0.2'] },
  })
  const { dial } = await startCarrier(t, [trunk])
  const { leg } = await dial('b')
  leg?.close('completed')
  t.match(await carrierPeer.saw('BYE'), { uri: { host: '127.0.0.1' } })
  t.same(inner.requests, [])
})
