import { createSocket, type Socket } from 'node:dgram'
import { once } from 'node:events'
import { pino } from 'pino'
import t, { type Test } from 'tap'
import type { Agreement } from '../../../../../plugins/sip/media/offer-answer.ts'
import { RtpLeg } from '../../../../../plugins/sip/media/rtp-leg.ts'
import { SrtpStream } from '../../../../../plugins/sip/media/srtp.ts'
import type { LegEvents, MediaFigures } from '../../../../../runtime/call/types/leg.ts'
import { decodeG711, encodeG711 } from '../../../../../runtime/media/codecs/g711.ts'
import { G722Decoder, G722Encoder } from '../../../../../runtime/media/codecs/g722.ts'
import { OpusDecoder, OpusEncoder } from '../../../../../runtime/media/codecs/opus.ts'
import { bytesOf, samplesOf } from '../../../../../runtime/media/frame.ts'
import { Pacer } from '../../../../../runtime/media/line/pacer.ts'
import { type RtpPacket, readRtp, writeRtp } from '../../../../../runtime/media/line/rtp-packet.ts'
import { DtmfDetector } from '../../../../../runtime/media/tones/dtmf-detector.ts'
import { DtmfTones } from '../../../../../runtime/media/tones/dtmf-tones.ts'
import type { UdpSocket } from '../../../../../runtime/plugin/contract.ts'
import { FakeTimers } from '../../../../system/plugins/sip/support/fake-timers.ts'

/** A leg on real UDP sockets, with time moved by hand. */

async function bound(t: Test): Promise<Socket> {
  const socket = createSocket('udp4')
  t.teardown(() => socket.close())
  socket.bind(0, '127.0.0.1')
  await once(socket, 'listening')
  return socket
}

async function line(t: Test, wanted: Partial<Agreement> = {}, starts = true) {
  const timers = new FakeTimers()
  /** What came to each phone, and how much the leg has sent to each port. */
  const came = new Map<Socket, Buffer[]>()
  const sent = new Map<number, number>()
  const phoneOn = async (): Promise<Socket> => {
    const socket = await bound(t)
    const packets: Buffer[] = []
    socket.on('message', (bytes) => packets.push(bytes))
    came.set(socket, packets)
    return socket
  }
  const [rtp, rtcp, phone] = [await bound(t), await bound(t), await phoneOn()]
  const port = (socket: Socket): UdpSocket =>
    ({
      port: socket.address().port,
      send: (bytes: Buffer, toPort: number, address: string) => {
        sent.set(toPort, (sent.get(toPort) ?? 0) + 1)
        socket.send(bytes, toPort, address)
      },
      receive: (on: (bytes: Buffer, from: { address: string; port: number }) => void) =>
        socket.on('message', (bytes, from) => on(bytes, from)),
      close: () => undefined,
    }) as unknown as UdpSocket
  const agreement: Agreement = {
    address: '127.0.0.1',
    port: phone.address().port,
    rtcpPort: 9,
    codec: 'PCMU',
    payloadType: 0,
    eventPayloadType: 101,
    ptimeMs: 20,
    direction: 'sendrecv',
    ...wanted,
  }
  const handles = new Map<number, () => void>()
  const pacer = new Pacer(
    timers,
    (error) => {
      throw error
    },
    {
      setTimeout(callback, delayMs) {
        const id = handles.size + 1
        handles.set(id, timers.after(delayMs, callback))
        return id
      },
      clearTimeout: (id) => handles.get(id as number)?.(),
    },
  )
  const heard: { bytes: Uint8Array; timestamp: number }[] = []
  const keys: string[] = []
  const figures: MediaFigures[] = []
  let seed = 1
  const leg = new RtpLeg({
    pair: { rtp: port(rtp), rtcp: port(rtcp) },
    agreement,
    control: { answer: () => undefined, hangUp: () => undefined, transfer: async () => 'failed' },
    allows: (address) => address === '127.0.0.1',
    released: () => undefined,
    pacer,
    clock: timers,
    random: { bits: () => seed++ },
    log: pino({ level: 'silent' }),
  })
  const events: LegEvents = {
    audio: (bytes, timestamp) => heard.push({ bytes: bytes.slice(), timestamp }),
    dtmf: (key) => keys.push(key),
    media: (told) => figures.push(told),
    text: () => undefined,
    played: () => undefined,
    ended: () => undefined,
  }
  if (starts) leg.start(events)
  leg.answer()
  t.teardown(() => leg.hangUp('over'))
  let sequence = 0
  const ssrc = 77
  /** Sends packets of 20 ms from a socket, and waits until the leg has read them. */
  const send = async (from: Socket, payloads: readonly Uint8Array[], payloadType = agreement.payloadType) => {
    for (const payload of payloads) {
      const packet: RtpPacket = { payloadType, marker: false, sequence, timestamp: 160 * sequence, ssrc, payload }
      sequence++
      const read = once(rtp, 'message')
      from.send(writeRtp(packet), rtp.address().port, '127.0.0.1')
      await read
    }
  }
  /** What the leg sends while time passes, to this socket: all of it, however late it comes. */
  const hear = async (socket: Socket, ms: number): Promise<RtpPacket[]> => {
    const packets = came.get(socket) ?? []
    const { port } = socket.address()
    const before = sent.get(port) ?? 0
    for (let at = 0; at < ms; at += 20) timers.advance(20)
    while (packets.length < (sent.get(port) ?? 0)) await once(socket, 'message')
    return packets.slice(before).flatMap((bytes) => readRtp(bytes) ?? [])
  }
  return { timers, rtp, phone, leg, events, heard, keys, figures, send, hear, agreement, other: phoneOn }
}

const silence = new Uint8Array(160).fill(0xff)
const loud = encodeG711(
  'pcmu',
  Int16Array.from({ length: 160 }, (_, n) => 8_000 * Math.sin(n / 3)),
)

t.test('a stray packet from another port of the peer takes nothing away', async (t) => {
  const { phone, send, hear, heard, other } = await line(t)
  const stray = await other()
  await send(stray, [loud])
  t.equal((await hear(phone, 40)).length, 2)
  await send(phone, [loud, loud])
  await send(stray, [loud])
  t.equal((await hear(phone, 40)).length, 2)
  t.equal(heard.filter(({ bytes }) => bytes[5] === loud[5]).length, 2)
})

t.test('a router that binds another port in the middle of a call is followed', async (t) => {
  const { phone, send, hear, heard, timers, other } = await line(t)
  await send(phone, [loud, loud])
  const rebound = await other()
  timers.advance(1_100)
  heard.length = 0
  await send(rebound, [loud, loud, loud, loud])
  t.equal(heard.length, 2, 'from the third packet on')
  t.equal((await hear(rebound, 100)).length, 5)
})

t.test('a stall of 700 ms loses no packet that comes after it', async (t) => {
  const { phone, send, heard, timers } = await line(t)
  await send(phone, [loud, loud])
  timers.advance(700)
  await send(
    phone,
    Array.from({ length: 35 }, () => loud),
  )
  const words = heard.filter(({ bytes }) => bytes[5] === loud[5])
  t.equal(words.length, 37)
  const gaps = heard.slice(1).filter(({ timestamp }, i) => timestamp !== heard[i]!.timestamp + 160)
  t.same(gaps, [], 'and the time line has no hole')
})

t.test('with Opus both hear 24 kHz; timestamps count 48,000, keys as they were agreed on', async (t) => {
  const opus = { codec: 'OPUS', payloadType: 96, eventPayloadType: 97, eventClockHz: 8_000 } as const
  const { phone, send, hear, heard, leg } = await line(t, opus)
  t.same(leg.format, { encoding: 'pcm_s16le', sampleRateHz: 24_000 })
  const encoder = new OpusEncoder(24_000)
  const tone = Int16Array.from({ length: 480 * 10 }, (_, n) => Math.round(9_000 * Math.sin(n / 8)))
  for (let i = 0; i < 10; i++) await send(phone, [encoder.encode(tone.subarray(480 * i, 480 * (i + 1)))])
  t.equal(heard.length, 10)
  t.ok(heard.every(({ bytes }) => bytes.length === 960))
  await send(phone, [Uint8Array.of(0xff, 0xff, 0xff)])
  t.equal(heard.length, 10, 'nothing is heard of a damaged packet')
  leg.sendAudio(new Uint8Array(bytesOf(tone)))
  const packets = (await hear(phone, 200)).filter(({ payloadType }) => payloadType === 96)
  t.equal(packets[1]!.timestamp - packets[0]!.timestamp, 960)
  const decoder = new OpusDecoder(24_000)
  const samples = packets.flatMap(({ payload }) => [...decoder.decode(payload)])
  t.equal(samples.length, 480 * packets.length)
  t.ok(samples.some((sample) => Math.abs(sample) > 5_000))
  leg.sendDtmf('5')
  const [key, next] = (await hear(phone, 100)).filter(({ payloadType }) => payloadType === 97)
  t.equal(key?.payload[0], 5)
  t.equal(((next?.payload[2] ?? 0) << 8) | (next?.payload[3] ?? 0), 320, 'two frames of 8,000 a second')
})

t.test('with G.722 the session hears 16 kHz and the phone, too; a change to A-law keeps the format', async (t) => {
  const { phone, send, hear, heard, leg, agreement } = await line(t, { codec: 'G722', payloadType: 9 })
  t.same(leg.format, { encoding: 'pcm_s16le', sampleRateHz: 16_000 })
  const tone = Int16Array.from({ length: 3_200 }, (_, n) => 8_000 * Math.sin((2 * Math.PI * 5_000 * n) / 16_000))
  const encoder = new G722Encoder()
  const packets = Array.from({ length: 10 }, (_, i) => encoder.encode(tone.subarray(320 * i, 320 * i + 320)))
  await send(phone, packets)
  const samples = heard.flatMap(({ bytes }) => [...samplesOf(bytes)])
  t.equal(samples.length, 3_200)
  const level = Math.sqrt(samples.slice(1_000).reduce((sum, sample) => sum + sample ** 2, 0) / 2_200)
  t.ok(level > 4_000, `5 kHz is heard: ${level}`)
  for (let i = 0; i < 10; i++) leg.sendAudio(new Uint8Array(tone.slice(320 * i, 320 * i + 320).buffer))
  const decoder = new G722Decoder()
  const back = (await hear(phone, 240)).flatMap(({ payload }) => [...decoder.decode(payload)])
  t.ok(Math.max(...back) > 6_000)
  leg.renegotiated({ ...agreement, codec: 'PCMA', payloadType: 8 })
  heard.length = 0
  await send(
    phone,
    Array.from({ length: 5 }, () => encodeG711('pcma', new Int16Array(160))),
    8,
  )
  t.ok(
    heard.every(({ bytes }) => bytes.length > 500),
    'still 16 kHz',
  )
  t.ok((await hear(phone, 60)).every(({ payloadType, payload }) => payloadType === 8 && payload.length <= 160))
})

t.test('keys in the sound are heard and pressed where there are no events', async (t) => {
  const { phone, send, hear, keys, leg } = await line(t, { eventPayloadType: undefined })
  const tones = new DtmfTones(8_000)
  tones.send('4#')
  const frames: Uint8Array[] = []
  while (tones.isBusy) frames.push(encodeG711('pcmu', tones.next()))
  await send(phone, frames)
  t.same(keys, ['4', '#'])
  leg.sendDtmf('19')
  const detector = new DtmfDetector(8_000)
  const pressed = (await hear(phone, 480)).flatMap(({ payload }) => detector.push(decodeG711('pcmu', payload)))
  t.same(pressed, ['1', '9'])
})

t.test('any codec of the answer is heard at any time, and keys on the number that we named', async (t) => {
  const received = new Map([
    [0, 'PCMU'],
    [8, 'PCMA'],
    [101, 'events'],
  ] as const)
  const { phone, send, heard, keys, figures, timers, leg } = await line(t, { eventPayloadType: 96, received })
  const samples = Int16Array.from({ length: 160 }, (_, i) => 8_000 * Math.sin(i / 4))
  await send(phone, [encodeG711('pcma', samples)], 8)
  await send(phone, [encodeG711('pcmu', samples)], 0)
  const [first, second] = heard.map(({ bytes }) => decodeG711('pcmu', bytes))
  t.ok(first !== undefined && second !== undefined)
  t.ok(
    first?.every((sample, i) => Math.abs(sample - (second?.[i] ?? 0)) < 600),
    'both say the same',
  )
  await send(phone, [Uint8Array.of(5, 10, 0, 160)], 101)
  await send(phone, [Uint8Array.of(6, 10, 0, 160)], 96)
  leg.keyPressed('6')
  leg.keyPressed('7')
  t.same(keys, ['5', '6', '7'], 'a press that comes by events and by INFO is one')
  for (let i = 0; i < 50; i++) await send(phone, [Uint8Array.of(40)], 13)
  timers.advance(31_000)
  await send(phone, [silence])
  leg.hangUp('over')
  t.equal(figures.at(-1)?.loss, 0, 'comfort noise is not lost')
})

t.test('an encrypted line is heard and spoken to with its keys alone', async (t) => {
  const [ours, theirs] = [Buffer.alloc(30, 1), Buffer.alloc(30, 2)]
  const suite = 'AES_CM_128_HMAC_SHA1_80'
  const { phone, rtp, send, hear, heard } = await line(t, { srtp: { suite, tag: '1', ours, theirs, theirMkiBytes: 0 } })
  await send(phone, [loud])
  t.equal(heard.length, 0, 'what is plain is not taken')
  const sealing = new SrtpStream(suite, theirs)
  const packet = { payloadType: 0, marker: false, sequence: 9, timestamp: 9 * 160, ssrc: 5, payload: loud }
  const read = once(rtp, 'message')
  phone.send(sealing.protect(writeRtp(packet)), rtp.address().port, '127.0.0.1')
  await read
  t.same(
    heard.map(({ bytes }) => [...bytes]),
    [[...loud]],
  )
  const opening = new SrtpStream(suite, ours)
  const arrived: (Buffer | undefined)[] = []
  phone.on('message', (bytes) => arrived.push(opening.unprotect(bytes)))
  await hear(phone, 60)
  t.equal(arrived.length, 3)
  t.ok(arrived.every((plain) => plain !== undefined && readRtp(plain)?.payload.length === 160))
})

t.test('the quality of the line is told now and then, and at its end', async (t) => {
  const { phone, send, timers, figures, leg } = await line(t)
  await send(
    phone,
    Array.from({ length: 50 }, () => silence),
  )
  for (let i = 0; i < 4; i++) {
    timers.advance(9_000)
    await send(phone, [silence])
  }
  t.match(figures[0], { codec: 'PCMU', packets: 53, loss: 0 })
  t.ok(figures[0]?.mos !== undefined)
  leg.hangUp('over')
  t.equal(figures.length, 2)
  const deaf = await line(t)
  deaf.timers.advance(8_000)
  deaf.leg.hangUp('over')
  t.match(deaf.figures.at(-1), { packets: 0, oneWay: 'nothing_heard' })
})

t.test('whoever picks up may say hello first: the agent hears it, and speaks once they wait', async (t) => {
  const { phone, send, leg, events, heard } = await line(t, {}, false)
  let waited = 0
  leg.awaitWords(3_000, () => waited++)
  await send(phone, [silence, ...Array.from({ length: 12 }, () => loud), ...Array.from({ length: 20 }, () => silence)])
  t.equal(waited, 0, 'a short pause may be one between two words')
  await send(
    phone,
    Array.from({ length: 8 }, () => silence),
  )
  t.equal(waited, 1)
  leg.start(events)
  t.equal(heard.filter(({ bytes }) => bytes[5] === loud[5]).length, 12, 'nothing they said is lost')
  await send(phone, [loud])
  t.equal(heard.filter(({ bytes }) => bytes[5] === loud[5]).length, 13)
  t.equal(waited, 1)
})

t.test('nobody is waited for who says nothing, or is gone', async (t) => {
  const silent = await line(t, {}, false)
  let waited = 0
  silent.leg.awaitWords(1_000, () => waited++)
  silent.timers.advance(980)
  t.equal(waited, 0)
  silent.timers.advance(60)
  t.equal(waited, 1)
  const gone = await line(t, {}, false)
  gone.leg.awaitWords(1_000, () => waited++)
  gone.leg.ended('caller_hangup')
  t.equal(waited, 2)
})
