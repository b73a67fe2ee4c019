import t from 'tap'
import { twilioDialect } from '../../../../../plugins/twilio/dialect.ts'
import type { LegEvents } from '../../../../../runtime/call/types/leg.ts'
import { StreamLeg } from '../../../../../runtime/plugin-sdk/telephony/stream/leg.ts'
import { StreamReception } from '../../../../../runtime/plugin-sdk/telephony/stream/reception.ts'

/** A leg at a desk, with the hands of a clock and all it tells. */
function desk() {
  let nowMs = 0
  const told: unknown[] = []
  const sent: { event: string; media?: { payload: string }; mark?: { name: string } }[] = []
  const leg = new StreamLeg({
    dialect: twilioDialect,
    clock: { nowMs: () => nowMs, monotonicMs: () => nowMs },
    closed: (reason, streaming) => told.push(['closed', reason, streaming]),
    over: (lost) => told.push(['over', lost]),
  })
  const events: LegEvents = {
    audio: (bytes, timestamp) => told.push(['audio', bytes.length, timestamp]),
    text: () => undefined,
    dtmf: (digit) => told.push(['dtmf', digit]),
    played: (id) => told.push(['played', id]),
    ended: (reason) => told.push(['ended', reason]),
  }
  leg.start(events)
  const socket = {
    buffered: 0,
    send: (text: string) => {
      sent.push(JSON.parse(text))
      return true
    },
    bufferedBytes: () => socket.buffered,
    close: (code: number) => void told.push(['socket closed', code]),
    terminate: () => undefined,
  }
  const media = (atMs: number) => leg.received({ type: 'media', payload: Buffer.alloc(160).toString('base64'), atMs })
  const pass = (ms: number) => {
    nowMs += ms
  }
  return { leg, told, sent, socket, media, pass }
}

t.test('what is said before the stream is there is held, in order', async (t) => {
  const { leg, sent, socket, told } = desk()
  leg.sendAudio(Uint8Array.of(1))
  leg.mark(7)
  leg.sendAudio(Uint8Array.of(2))
  leg.attach(socket, 'MZ')
  t.same(
    sent.map(({ event, media, mark }) => media?.payload ?? mark?.name ?? event),
    ['AQ==', '7', 'Ag=='],
  )
  leg.received({ type: 'mark', name: '7' })
  t.same(told, [['played', 7]])
  leg.close('done')
})

t.test('of a stream that comes very late only the last ten seconds are kept, and marks are kept all', async (t) => {
  const { leg, sent, socket } = desk()
  leg.mark(1)
  for (let i = 0; i < 600; i++) leg.sendAudio(Uint8Array.of(i & 255))
  leg.attach(socket, 'MZ')
  t.equal(sent.length, 500)
  t.equal(sent[0]?.event, 'mark')
  leg.close('done')
})

t.test('audio is dropped for a carrier that reads too slowly, marks are not', async (t) => {
  const { leg, sent, socket } = desk()
  leg.attach(socket, 'MZ')
  socket.buffered = 1 << 20
  leg.sendAudio(Uint8Array.of(1))
  leg.mark(1)
  t.same(
    sent.map(({ event }) => event),
    ['mark'],
  )
  leg.close('done')
})

t.test(
  'timestamps skip what was lost, follow no clock that goes back, and go on after a stream was lost',
  async (t) => {
    const { leg, told, media, socket, pass } = desk()
    leg.attach(socket, 'MZ')
    media(0)
    media(20)
    media(60)
    media(0)
    leg.detach()
    pass(1_000)
    leg.attach(socket, 'MZ2')
    media(0)
    t.same(
      told.map((entry) => (entry as unknown[])[2]),
      [0, 160, 480, 640, 800 + 8_000],
    )
    leg.close('done')
  },
)

t.test('marks of a stream that is lost count as played, and one that comes back brings those before it', async (t) => {
  const { leg, told, socket } = desk()
  leg.attach(socket, 'MZ')
  for (const id of [1, 2, 3]) leg.mark(id)
  leg.received({ type: 'mark', name: '2' })
  leg.received({ type: 'mark', name: 'unknown' })
  leg.detach()
  t.same(told, [
    ['played', 1],
    ['played', 2],
    ['played', 3],
  ])
  leg.close('done')
})

t.test('the end is told once, whoever ends it', async (t) => {
  const ours = desk()
  ours.leg.attach(ours.socket, 'MZ')
  ours.leg.close('api_hangup')
  ours.leg.received({ type: 'stop' })
  ours.leg.close('again')
  t.same(ours.told, [
    ['over', false],
    ['socket closed', 1000],
    ['closed', 'api_hangup', true],
  ])
  const theirs = desk()
  theirs.leg.attach(theirs.socket, 'MZ')
  theirs.leg.received({ type: 'stop' })
  theirs.leg.close('late')
  t.same(theirs.told, [
    ['over', false],
    ['socket closed', 1000],
    ['ended', 'caller_hangup'],
  ])
})

t.test('a token opens one stream, of its own call', async (t) => {
  const { leg, socket, told } = desk()
  const silent = { warn: () => undefined } as never
  const reception = new StreamReception(twilioDialect, silent)
  const token = reception.issue((carrierId) => (carrierId === 'CA1' ? leg : undefined))
  const start = (callSid: string) => {
    const start = { streamSid: 'MZ', callSid, customParameters: { token } }
    reception
      .open(socket, { pass: undefined, address: '192.0.2.1' })
      .message(JSON.stringify({ event: 'start', streamSid: 'MZ', start }))
  }
  start('CA2')
  t.same(told, [['socket closed', 1008]], 'another call')
  start('CA1')
  t.equal(leg.wantsStream, true, 'the token was used up')
  reception.open(socket, { pass: undefined, address: '192.0.2.1' }).message('no JSON')
  reception.open(socket, { pass: undefined, address: '192.0.2.1' }).message(new Uint8Array(4))
  t.equal(told.length, 4)
  leg.close('done')
})

t.test('the rounding of a carrier that counts milliseconds is no gap, a lost packet is one', async (t) => {
  const { told, media } = desk()
  // Packets of 20 ms, said to begin a millisecond too early and too late.
  for (const atMs of [0, 19, 41, 60, 100]) media(atMs)
  t.same(
    told.map((one) => (one as unknown[])[2]),
    [0, 160, 320, 480, 800],
  )
})
