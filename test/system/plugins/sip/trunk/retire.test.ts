import { setTimeout as sleep } from 'node:timers/promises'
import t from 'tap'
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
    return { ours: new Set(ids), elsewhere: new Map() }
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
