import { createHmac } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import type { PhoneNumber } from '../../../../../runtime/lib/phone-number.ts'
import type { DialOrder } from '../../../../../runtime/plugin-sdk/telephony/carrier.ts'
import { NO_TRUNKS } from '../../../../../runtime/plugin-sdk/telephony/trunk.ts'
import { DialLog } from '../../../../conformance/telephony.ts'
import { ApiDouble } from '../../../../support/providers/doubles/carriers/stream-carrier.ts'
import { waitUntil } from '../../../../support/world/wait-until.ts'
import { foreign } from './support.ts'

const EXAMPLE = join(import.meta.dirname, '../../../../../examples/plugins/tincan')
const { permissions } = JSON.parse(readFileSync(join(EXAMPLE, 'plugin.json'), 'utf8'))
const MOD = `import { definePlugin } from '@patchbay/plugin'
import { tinCan } from './carrier.ts'
export default definePlugin({ telephony: (host) => ({ ...tinCan(host), ...more(host) }) })
`
const KEY = 'k-1'
const DOOR = { publicUrl: 'https://voice.example/telephony/probe', nodeUrl: 'https://node.example/telephony/probe' }
const ORDER: DialOrder = {
  ...{ callId: 'our-id', workspaceId: 'workspace', ringTimeoutMs: 30_000 },
  ...{ from: '+14155550100' as PhoneNumber, to: '+14155552671' as PhoneNumber },
}
const { signal } = new AbortController()

/** The carrier of the example in the sandbox, before a double of its API. @param more of its methods, as code */
async function start(t: Test, more = 'const more = () => ({})') {
  const api = await ApiDouble.start(t)
  api.answer = () => ({ status: 201, body: { id: 'carrier-id' } })
  const { registry } = await foreign(t, {
    plugin: {
      mod: `${MOD}${more}`,
      provides: { telephony: {} },
      permissions,
      files: { 'carrier.ts': join(EXAMPLE, 'carrier.ts') },
    },
    settings: { grant: permissions },
    env: { TINCAN_URL: api.url, TINCAN_KEY: KEY },
  })
  const carrier = await registry.create('telephony', 'probe', { trunks: NO_TRUNKS, door: DOOR })
  t.teardown(() => (carrier as { close?(): Promise<void> }).close?.())
  const { web } = carrier
  if (web === undefined) throw new Error('It takes no requests')
  /** A request of the carrier, signed for this address. */
  const tell = async (event: string, body: string, { call = '', url = DOOR.nodeUrl, key = KEY } = {}) => {
    const query = new URLSearchParams(call === '' ? {} : { call })
    const path = `/${event}${call === '' ? '' : `?${query}`}`
    const signature = createHmac('sha256', key).update(`${url}${path}\n${body}`).digest('hex')
    const target = `/telephony/probe${path}`
    const header = (name: string) => (name === 'tincan-signature' ? signature : 'not asked for')
    return web.handle({ method: 'POST', event, target, query, header, body }, signal)
  }
  /** Opens a stream that shows the token. */
  const stream = (url: string, token: string) => {
    const sent: string[] = []
    const socket = {
      send: (text: string) => sent.push(text) > 0,
      bufferedBytes: () => 0,
      close: () => undefined,
      terminate: () => undefined,
    }
    const query = new URL(url).searchParams
    const handlers = web.stream({ target: '', query, header: () => '', address: '192.0.2.1' })(socket)
    handlers.message(JSON.stringify({ event: 'start', call: 'carrier-id', token }))
    return { sent, say: (message: object) => handlers.message(JSON.stringify(message)) }
  }
  return { api, carrier, tell, stream }
}

t.test('a call of a carrier in the sandbox is ordered, rings, speaks both ways and is ended', async (t) => {
  const { api, carrier, tell, stream } = await start(t)
  const events = new DialLog()
  await carrier.dial(ORDER, events, signal)
  const { body: order } = await api.asked(/POST \/calls$/)
  t.match(order, { to: ORDER.to, from: ORDER.from, ringS: 30, statusUrl: `${DOOR.nodeUrl}/status?call=our-id` })
  t.match(order.streamUrl, /^wss:\/\/node\.example\/telephony\/probe\/stream\?pass=[0-9a-f]{64}$/)
  await t.rejects(tell('status', '{"id":"carrier-id","state":"ringing"}', { call: 'our-id', key: 'other' }), {
    code: 'forged_request',
  })
  await t.rejects(tell('status', 'no JSON', { call: 'our-id' }), { code: 'malformed_body' })
  t.match(await tell('status', '{"id":"carrier-id","state":"ringing"}', { call: 'our-id' }), { status: 200 })
  await events.rang.promise
  const { sent, say } = stream(order.streamUrl, order.token)
  await events.over.promise
  t.same(events.told, ['ringing', 'answered by unknown'])
  const heard: { bytes: Uint8Array; timestamp: number }[] = []
  const keys: string[] = []
  const ended = Promise.withResolvers<string>()
  events.leg?.start({
    audio: (bytes, timestamp) => heard.push({ bytes, timestamp }),
    dtmf: (key) => keys.push(key),
    ended: ended.resolve,
    played: () => {},
    text: () => {},
  })
  for (const pcm of ['AAECAw==', 'BAUGBw==']) say({ event: 'sound', pcm })
  say({ event: 'key', key: 7 })
  t.same(
    heard.map(({ bytes, timestamp }) => [[...bytes], timestamp]),
    [
      [[0, 1, 2, 3], 0],
      [[4, 5, 6, 7], 2],
    ],
    'two samples each',
  )
  t.same(keys, ['7'])
  events.leg?.sendAudio(Uint8Array.of(1, 2))
  events.leg?.mark(5)
  t.same(sent, ['{"event":"sound","pcm":"AQI="}', '{"event":"mark","name":"5"}'])
  t.equal(await carrier.lookup('our-id', signal), 'ended')
  await carrier.hangup('our-id', signal)
  await api.asked(/DELETE \/calls\/carrier-id$/)
})

t.test('a call that comes in is answered with a document of the plugin', async (t) => {
  const { carrier, tell } = await start(t)
  await carrier.receive?.((call) => {
    t.match(call, { from: '+14155550123', to: '+14155550100' })
    call.reject('no_agent')
  }, signal)
  const body = JSON.stringify({ id: 'in-1', from: '+14155550123', to: '+14155550100' })
  const reply = await tell('voice', body, { url: DOOR.publicUrl })
  t.match(reply, { status: 200, contentType: 'application/json', body: '{"action":"reject","as":"rejected"}' })
})

t.test('what the carrier refuses is no call, and a number that it does not know is told as one', async (t) => {
  const { api, carrier } = await start(t)
  api.answer = () => ({ status: 401, body: {} })
  await t.rejects(carrier.dial(ORDER, new DialLog(), signal), { name: 'CarrierFault', message: /refused the key/ })
  t.equal(await carrier.lookup('our-id', signal), 'unknown')
  api.answer = () => ({ status: 422, body: { error: 'no such number' } })
  const events = new DialLog()
  await carrier.dial(ORDER, events, signal)
  t.same(events.told, ['invalid_number'])
})

t.test('a plugin that ends its process loses no call that has its stream', async (t) => {
  const { api, carrier, stream } = await start(t, 'const more = (host) => ({ state: async () => { Deno.exit(1) } })')
  const events = new DialLog()
  await carrier.dial(ORDER, events, signal)
  const { body: order } = await api.asked(/POST \/calls$/)
  const { say } = stream(order.streamUrl, order.token)
  await events.over.promise
  const heard: Uint8Array[] = []
  events.leg?.start({ audio: (bytes) => heard.push(bytes), dtmf() {}, ended() {}, played() {}, text() {} })
  await t.rejects(carrier.lookup('our-id', signal), { name: 'CarrierFault', message: /ended/ })
  say({ event: 'sound', pcm: 'AAECAw==' })
  t.equal(heard.length, 1, 'its audio needs no plugin')
  await carrier.hangup('our-id', signal)
  await waitUntil(
    () => api.requests.some(({ method }) => method === 'DELETE'),
    () => 'the end of the call at the carrier, by the next process',
    { everyMs: 50, timeoutMs: 60_000 },
  )
})

t.test('values that no carrier has fail where they are given', async (t) => {
  for (const [more, why] of [
    ['stream: { }', /stream\.format has to be an object/],
    ['headers: ["a".repeat(2000)]', /a name in headers has to be text/],
    ['documentType: "text/html"', /documentType has to be one of text\/xml, application\/json/],
    ['callsPerSecond: -1', /callsPerSecond has to be a number/],
  ] as const) {
    await t.rejects(start(t, `const more = () => ({ ${more} })`), { message: why }, more)
  }
  const wrong = `{ type: 'progress', callId: 'c', news: { carrierId: 'x', over: { failure: 'odd' } } }`
  const { tell } = await start(
    t,
    `const more = () => ({
      verify: ({ event, header }) => (event === 'voice' ? 'yes' : header('authorization') === ''),
      read: ({ event }) => event === 'status' ? ${wrong} : { type: 'incoming', carrierId: 1 },
    })`,
  )
  await t.rejects(tell('voice', '{}'), { code: 'forged_request' }, 'true alone is a signature')
  await t.rejects(tell('status', '{}'), { message: /over\.failure has to be one of busy, / })
  await t.rejects(
    tell('other', '{}'),
    { message: /carrierId has to be text/ },
    'and headers that were not named are empty',
  )
})
