import { pino } from 'pino'
import t from 'tap'
import { telnyxDialect } from '../../../../../plugins/telnyx/dialect.ts'
import type { LegEndReason } from '../../../../../runtime/call/types/leg.ts'
import { PatchbayError } from '../../../../../runtime/lib/errors.ts'
import type { PhoneNumber } from '../../../../../runtime/lib/phone-number.ts'
import type { DialOrder, IncomingCall } from '../../../../../runtime/plugin-sdk/telephony/carrier.ts'
import { StreamCarrier } from '../../../../../runtime/plugin-sdk/telephony/stream/carrier.ts'
import type { CarrierNews, StreamProvider } from '../../../../../runtime/plugin-sdk/telephony/stream/provider.ts'
import { passOf } from '../../../../../runtime/plugin-sdk/telephony/stream/reception.ts'
import { ApiFault } from '../../../../../runtime/plugin-sdk/telephony/stream/rest.ts'
import { DialLog } from '../../../../conformance/telephony.ts'

const DOOR = { publicUrl: 'https://voice.example/telephony/any', nodeUrl: 'https://node.example/telephony/any' }
const ORDER: DialOrder = {
  ...{ callId: 'our-id', workspaceId: 'workspace', ringTimeoutMs: 30_000 },
  ...{ from: '+14155550100' as PhoneNumber, to: '+14155552671' as PhoneNumber },
}
const signal = new AbortController().signal

/** A carrier whose requests are news as they are, and whose API does as told. */
function makeCarrier(more: Partial<StreamProvider> = {}) {
  const asked: string[] = []
  const provider: StreamProvider = {
    dialect: telnyxDialect,
    taken: { status: 204 },
    verify(request) {
      if (request.header('signature') !== 'right') throw new PatchbayError('forged_request')
    },
    read: ({ body }) => JSON.parse(body) as CarrierNews,
    join: ({ callId, token }, { streamUrl }) => JSON.stringify({ callId, token, streamUrl: streamUrl(token) }),
    reject: (as) => `reject ${as}`,
    create: async () => 'carrier-id',
    end: async (carrierId) => void asked.push(`end ${carrierId}`),
    state: async (carrierId) => (carrierId === 'carrier-id' ? 'live' : 'unknown'),
    transfer: async ({ carrierId, to, from }) => void asked.push(`transfer ${carrierId} to ${to} from ${from}`),
    ...more,
  }
  const carrier = new StreamCarrier(provider, pino({ level: 'silent' }), DOOR)
  t.teardown(() => carrier.close())
  const request = async (news: CarrierNews, signature = 'right') => {
    const query = new URLSearchParams()
    const asking = { method: 'POST', event: 'any', target: '/telephony/any/any', query, body: JSON.stringify(news) }
    return carrier.web.handle({ ...asking, header: () => signature }, signal)
  }
  /** Opens a stream that shows the token. */
  const stream = (token: string) => {
    const socket = { send: () => true, bufferedBytes: () => 0, close: () => undefined, terminate: () => undefined }
    const handlers = carrier.web.stream({
      ...{ target: '', query: new URLSearchParams({ pass: passOf(token) }), header: () => '', address: '192.0.2.1' },
    })(socket)
    const client_state = Buffer.from(JSON.stringify(['our-id', token])).toString('base64')
    handlers.message(JSON.stringify({ event: 'start', start: { call_control_id: 'carrier-id', client_state } }))
  }
  return { carrier, asked, request, stream }
}

const tokenOf = (document: string | undefined): string => JSON.parse(document ?? '').token

t.test('a message of a media stream that is nested deep is none', async (t) => {
  const deep = `{"event":"media","media":{"payload":"","more":${'['.repeat(5_000)}${']'.repeat(5_000)}}}`
  t.throws(() => telnyxDialect.read(deep), /nested over 64 deep/)
})

t.test('nothing of a request counts before its signature was checked', async (t) => {
  const { carrier, request } = makeCarrier({ read: () => t.fail('it was read') as never })
  await t.rejects(request({ type: 'asks', document: 'x' }, 'wrong'), { code: 'forged_request' })
  t.ok(carrier)
})

t.test('an order that is refused is no call; one whose fate is unknown is ended once it shows itself', async (t) => {
  const fault = { now: new ApiFault('no', 403) }
  const { carrier, asked, request } = makeCarrier({ create: () => Promise.reject(fault.now) })
  const told = { type: 'progress', callId: 'our-id', news: { carrierId: 'carrier-id' } } as const
  await t.rejects(carrier.dial(ORDER, new DialLog(), signal), { message: 'no' })
  t.equal(await carrier.lookup('our-id', signal), 'unknown')
  fault.now = new ApiFault('gone wrong', 500)
  await t.rejects(carrier.dial(ORDER, new DialLog(), signal), { message: 'gone wrong' })
  t.equal(await carrier.lookup('our-id', signal), 'live')
  await carrier.hangup('our-id', signal)
  t.same(asked, [])
  t.same(await request(told), { status: 204 })
  t.same(asked, ['end carrier-id'])
})

t.test('an order refused for its number is a number that is not in service', async (t) => {
  const create = () => Promise.reject(new ApiFault('no such number', 400))
  const { carrier } = makeCarrier({ create, blamesNumber: () => true })
  const log = new DialLog()
  await carrier.dial(ORDER, log, signal)
  t.same(log.told, ['invalid_number'])
})

t.test('a call that was picked up is joined to our stream, one that nobody knows is refused', async (t) => {
  const { carrier, request, stream } = makeCarrier({ create: async () => '' })
  const log = new DialLog()
  await carrier.dial(ORDER, log, signal)
  const { body } = await request({ type: 'picked_up', callId: 'our-id', carrierId: 'carrier-id' })
  t.match(JSON.parse(body ?? ''), {
    callId: 'our-id',
    streamUrl: /^wss:\/\/node\.example\/telephony\/any\/stream\?pass=[0-9a-f]{64}$/,
  })
  stream(tokenOf(body))
  await log.over.promise
  t.match(log.told, ['answered by unknown'])
  t.match(await request({ type: 'picked_up', callId: 'another', carrierId: 'x' }), { body: 'reject rejected' })
  t.match(await request({ type: 'streamless', callId: 'another' }), { body: 'reject rejected' })
})

t.test('a transfer ends the leg; one that is refused leaves it as it was', async (t) => {
  let refuses = true
  const { carrier, request, stream } = makeCarrier({
    transfer: async () => {
      if (refuses) throw new ApiFault('not now', 409)
    },
  })
  const log = new DialLog()
  await t.rejects(carrier.transfer('our-id', ORDER.to, signal), { message: 'the call is not connected' })
  await carrier.dial(ORDER, log, signal)
  stream(tokenOf((await request({ type: 'picked_up', callId: 'our-id', carrierId: 'carrier-id' })).body))
  await log.over.promise
  const ends: LegEndReason[] = []
  const none = (): void => undefined
  log.leg?.start({ audio: none, text: none, dtmf: none, played: none, ended: (reason) => ends.push(reason) })
  await t.rejects(carrier.transfer('our-id', ORDER.to, signal), { message: 'not now' })
  t.same(ends, [])
  t.ok(tokenOf((await request({ type: 'streamless', callId: 'our-id' })).body), 'its stream may come back')
  refuses = false
  await carrier.transfer('our-id', ORDER.to, signal)
  t.same(ends, ['transferred'])
})

t.test('where calls wait for commands, each is commanded once however often it is told of', async (t) => {
  const commands: string[] = []
  const { carrier, request } = makeCarrier({
    command: async (carrierId, document) => {
      commands.push(`${carrierId} ${document}`)
      if (document === 'reject busy') throw new ApiFault('over', 404)
    },
  })
  const calls: IncomingCall[] = []
  await carrier.receive((call) => calls.push(call), signal)
  const incoming = { type: 'incoming', carrierId: 'a', from: '+14155550123', to: '+14155550100' } as const
  t.same(await request(incoming), { status: 204 })
  t.same(await request(incoming), { status: 204 })
  t.equal(calls.length, 1)
  calls[0]?.reject('unknown_number')
  await new Promise(setImmediate)
  t.same(commands, ['a reject rejected'])
  await request({ ...incoming, carrierId: 'b' })
  calls[1]?.reject('no_capacity')
  await new Promise(setImmediate)
  t.same(commands, ['a reject rejected', 'b reject busy'])
  t.ok(calls[1]?.signal.aborted, 'a call whose command was not taken is over')
})

t.test('a call that came in ends by the news of its end', async (t) => {
  const { carrier, request } = makeCarrier()
  const calls: IncomingCall[] = []
  await carrier.receive((call) => calls.push(call), signal)
  const answered = request({ type: 'incoming', carrierId: 'a', from: 'anonymous', to: '+14155550100' })
  t.equal(calls[0]?.from, undefined)
  const over = { failure: 'canceled', answered: false } as const
  await request({ type: 'progress', callId: '', news: { carrierId: 'a', over } })
  t.ok(calls[0]?.signal.aborted)
  t.match(await answered, { contentType: 'text/xml', body: 'reject busy' })
})
