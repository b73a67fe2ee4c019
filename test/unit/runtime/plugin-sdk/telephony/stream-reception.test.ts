import { pino } from 'pino'
import t from 'tap'
import { telnyxDialect } from '../../../../../plugins/telnyx/dialect.ts'
import { writeState } from '../../../../../plugins/telnyx/state.ts'
import { decodeG711, encodeG711 } from '../../../../../runtime/media/codecs/g711.ts'
import { passOf, StreamReception } from '../../../../../runtime/plugin-sdk/telephony/stream/reception.ts'

function makeReception(log = pino({ level: 'silent' })) {
  const reception = new StreamReception(telnyxDialect, log)
  const open = (pass: string | undefined, address = '192.0.2.1') => {
    const closed: number[] = []
    const socket = {
      ...{ send: () => true, bufferedBytes: () => 0, terminate: () => undefined },
      close: (code: number) => closed.push(code),
    }
    const handlers = reception.open(socket as never, { pass, address })
    t.teardown(() => handlers.close(1000))
    return { closed, handlers }
  }
  return { reception, open }
}

t.test('a pass is a call’s until the call is over, and tells no token', async (t) => {
  const { reception } = makeReception()
  const token = reception.issue(() => undefined)
  t.ok(reception.knows(passOf(token)))
  for (const other of ['', token, passOf('x'), passOf(token).slice(1), `${passOf(token)}0`])
    t.notOk(reception.knows(other))
  reception.withdraw(token)
  t.notOk(reception.knows(passOf(token)))
})

t.test('one call, and one address, hold few places of those who have not shown their token', async (t) => {
  const { reception, open } = makeReception()
  const pass = passOf(reception.issue(() => undefined))
  const [first] = [open(pass), open(pass)]
  t.same(open(pass).closed, [1013], 'two of one call')
  first.handlers.close(1000)
  t.same(open(pass).closed, [])
  const signed = Array.from({ length: 260 }, () => open(undefined).closed.length)
  t.equal(signed.filter((closed) => closed === 0).length, 248, '250 of one address')
  t.same(open(undefined, '192.0.2.2').closed, [])
})

t.test('of a bad message nothing is logged but that it came, once a stream', async (t) => {
  const lines: string[] = []
  const { open } = makeReception(pino({ level: 'debug' }, { write: (line: string) => void lines.push(line) }))
  const { closed, handlers } = open('x')
  for (const message of ['{"event":"dtmf","digit":4111', 'my card is 4111', '[4111]', Buffer.from('4111')]) {
    handlers.message(message)
  }
  t.same(closed, [1008, 1008, 1008, 1008])
  t.match(
    lines.map((line) => JSON.parse(line)),
    [{ msg: 'Malformed message in a media stream' }],
  )
  t.equal(lines.length, 1)
  t.notMatch(lines.join(''), /4111|card/)
})

t.test('A-law that the carrier could not change is heard, and sound nobody here understands is no noise', async (t) => {
  const { reception, open } = makeReception()
  const begin = (encoding: string) => {
    const got = { payloads: [] as string[], ended: [] as string[] }
    const leg = {
      ...{ wantsStream: true, attach: () => undefined, detach: () => undefined },
      received: (event: { type: string; payload?: string }) => void got.payloads.push(event.payload ?? ''),
      hangUp: (reason: string) => void got.ended.push(reason),
    }
    const token = reception.issue(() => leg as never)
    const { handlers, closed } = open(passOf(token))
    const start = { call_control_id: 'c', client_state: writeState({ callId: 'c', token }), media_format: { encoding } }
    handlers.message(JSON.stringify({ event: 'start', stream_id: 's', start }))
    const loud = Int16Array.from({ length: 160 }, (_, i) => Math.round(8_000 * Math.sin(i / 4)))
    const payload = Buffer.from(encodeG711(encoding === 'PCMA' ? 'pcma' : 'pcmu', loud)).toString('base64')
    handlers.message(JSON.stringify({ event: 'media', media: { payload, timestamp: '0' } }))
    const heard = decodeG711('pcmu', Buffer.from(got.payloads[0] ?? '', 'base64'))
    return { ...got, closed, off: Math.max(...loud.map((sample, i) => Math.abs(sample - (heard[i] ?? 0)))) }
  }
  t.ok(begin('PCMU').off < 400)
  t.ok(begin('PCMA').off < 800, 'in the format of the leg')
  const other = begin('OPUS')
  t.same([other.payloads, other.closed, other.ended], [[], [1008], ['connection_lost']])
})
