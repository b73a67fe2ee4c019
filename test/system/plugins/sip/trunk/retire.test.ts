import { setTimeout as sleep } from 'node:timers/promises'
import t from 'tap'
import { headerOf } from '../../../../../plugins/sip/message/message.ts'
import { until } from '../../../../support/instance/realtime-node.ts'
import { accepted, startCaller, startCarrier, startPeer, trunkOf } from '../support/carrier.ts'

t.test('a node that stops gives its registration up at once and says why it takes no calls', async (t) => {
  const expires: number[] = []
  const registrar = await startPeer(t, (request) => {
    if (request.method !== 'REGISTER') return accepted(request)
    const contact = request.headers.find(({ name }) => name === 'contact')?.value ?? ''
    const header = request.headers.find(({ name }) => name === 'expires')?.value
    expires.push(Number(/expires=(\d+)/.exec(contact)?.[1] ?? header))
    return { status: 200, headers: [`Contact: ${contact}`] }
  })
  const wanted: (readonly string[])[] = []
  const trunk = trunkOf({
    name: 'main',
    host: `127.0.0.1:${registrar.port}`,
    register: true,
    username: 'a',
    password: 'b',
  })
  const { carrier, port } = await startCarrier(t, [trunk], {}, async (ids) => {
    wanted.push(ids)
    return { ours: new Set(ids), elsewhere: new Map(), taken: new Set() }
  })
  const stopping = new AbortController()
  await carrier.receive(() => undefined, stopping.signal)
  while (carrier.trunkState('main')?.contact?.status !== 200) await sleep(20)
  t.ok((expires[0] ?? 0) > 0)
  t.same(wanted.at(-1), ['main'])
  stopping.abort()
  await registrar.saw('REGISTER', 2)
  t.equal(expires.at(-1), 0)
  t.same(wanted.at(-1), [])
  const caller = await startCaller(t, port)
  t.match(await caller.call('+14155550100', []), { status: 503 })
})

t.test('a node that leaves serves its calls and keeps its registration until another node has it', async (t) => {
  const expires: number[] = []
  const registrar = await startPeer(t, (request) => {
    if (request.method !== 'REGISTER') return accepted(request)
    expires.push(Number(request.headers.find(({ name }) => name === 'expires')?.value))
    return { status: 200, headers: [`Contact: ${headerOf(request, 'contact')};expires=1`] }
  })
  const taken = new Set<string>()
  const wanted: (readonly string[])[] = []
  const account = { register: true, username: 'a', password: 'b' }
  const trunk = trunkOf({ name: 'main', host: `127.0.0.1:${registrar.port}`, ...account })
  const { carrier, port } = await startCarrier(t, [trunk], {}, async (ids) => {
    wanted.push(ids)
    return { ours: new Set(ids), elsewhere: new Map(), taken }
  })
  const stopping = new AbortController()
  await carrier.receive((call) => call.reject('no_agent'), stopping.signal)
  await until(() => carrier.trunkState('main')?.contact?.status === 200)
  carrier.leave()
  await until(() => wanted.at(-1)?.length === 0)
  const caller = await startCaller(t, port)
  t.match(await caller.call('+14155550100', []), { status: 480 }, 'calls are looked at as before')
  const before = registrar.requests.length
  await registrar.saw('REGISTER', before + 1)
  t.notOk(expires.includes(0), 'nobody has it yet: it is refreshed')
  taken.add('main')
  const rounds = wanted.length
  await until(() => wanted.length >= rounds + 2)
  stopping.abort()
  t.match(await caller.call('+14155550100', []), { status: 503 })
  t.notOk(expires.includes(0), 'the other node keeps what it has')
})
