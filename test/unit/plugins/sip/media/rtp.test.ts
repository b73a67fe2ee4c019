import t from 'tap'
import { readReport, roundTripMs, writeReport } from '../../../../../plugins/sip/media/rtcp.ts'
import { RtpReceiver } from '../../../../../plugins/sip/media/rtp-receiver.ts'
import { RtpSender, type SenderLine } from '../../../../../plugins/sip/media/rtp-sender.ts'
import { decodeG711 } from '../../../../../runtime/media/codecs/g711.ts'
import { type RtpPacket, readRtp, writeRtp } from '../../../../../runtime/media/line/rtp-packet.ts'
import { DtmfDetector } from '../../../../../runtime/media/tones/dtmf-detector.ts'

const random = { bits: (count: 16 | 32) => (count === 16 ? 65_534 : 0xffffff00) }
const PCMU = { encoding: 'pcmu', sampleRateHz: 8_000 } as const
const CLOCK = { clockHz: 8_000, sampleRateHz: 8_000 }
const line: SenderLine = { audio: 0, events: 101, eventClockHz: 8_000, clockHz: 8_000, ptimeMs: 20 }
/** Puts an accepted packet of G.711 on the time line; its place, -1 where it is not heard. */
const place = (receiver: RtpReceiver, packet: RtpPacket, quiet = false): number =>
  receiver.audio(packet, packet.payload, packet.payload.length, () => quiet)?.timestamp ?? -1
const speech = (frames: number) => new Uint8Array(160 * frames).fill(7)

/** A sender and its clock. */
function makeSender(wanted: Partial<SenderLine> = {}) {
  const sender = new RtpSender(PCMU, random)
  let nowMs = 0
  const tick = (frames = 1, ms = 20 * frames, silent = false) => {
    nowMs += ms
    return sender.tick(frames, nowMs, { ...line, ...wanted }, silent)
  }
  return { sender, tick }
}

const isSpeech = ({ payload }: { payload: Uint8Array }): boolean => payload[0] === 7

t.test('a packet is read as it was written', async (t) => {
  const packet: RtpPacket = {
    payloadType: 101,
    marker: true,
    sequence: 65_535,
    timestamp: 0xfffffff0,
    ssrc: 0x89abcdef,
    payload: Buffer.from([1, 2, 3]),
  }
  t.same(readRtp(writeRtp(packet)), packet)
})

t.test('extensions, contributors and padding are no payload; what is no RTP is not read', async (t) => {
  const bytes = Buffer.concat([
    Buffer.from([0xb1, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 1]),
    Buffer.from([9, 9, 9, 9]),
    Buffer.from([0xbe, 0xde, 0, 1, 8, 8, 8, 8]),
    Buffer.from([5, 6, 0, 2]),
  ])
  t.same([...(readRtp(bytes)?.payload ?? [])], [5, 6])
  t.equal(readRtp(Buffer.from('INVITE sip:a@b SIP/2.0')), undefined)
  t.equal(readRtp(Buffer.alloc(11)), undefined)
  t.equal(readRtp(Buffer.from([0x80, 200, 0, 6, 0, 0, 0, 0, 0, 0, 0, 1])), undefined)
})

t.test('one packet leaves every 20 ms, numbered over the wrap, noise where there is no speech', async (t) => {
  const { sender, tick } = makeSender()
  const first = tick().packets
  sender.push(speech(3))
  const rest = [tick(), tick(), tick(), tick()].flatMap(({ packets }) => packets)
  t.same(
    [...first, ...rest].map(({ sequence }) => sequence),
    [65_534, 65_535, 0, 1, 2],
  )
  t.same(
    [...first, ...rest].map(({ timestamp }) => timestamp >>> 0),
    [0xffffff00, 0xffffffa0, 0x40, 0xe0, 0x180],
  )
  t.same([...first, ...rest].map(isSpeech), [false, true, true, true, false])
  t.same(
    [...first, ...rest].map(({ marker }) => marker),
    [true, true, false, false, false],
  )
})

t.test('bytes are cut into frames wherever they break off, the last one filled up', async (t) => {
  const { sender, tick } = makeSender()
  sender.push(speech(1).subarray(0, 100))
  sender.push(speech(2).subarray(0, 260))
  sender.push(speech(1).subarray(0, 50))
  const sent = [tick(), tick(), tick(), tick(), tick()].flatMap(({ packets }) => packets).filter(isSpeech)
  t.equal(sent.length, 3)
  t.ok(sent.every(({ payload }) => payload.length === 160))
})

t.test('a late process makes up for what is due, and skips what it slept through', async (t) => {
  const { sender, tick } = makeSender()
  tick()
  t.equal(tick(3).packets.length, 3)
  const before = sender.timestamp
  tick(3, 1_000)
  // 50 frames passed on the clock, 3 of them were sent.
  t.equal((sender.timestamp - before) >>> 0, 50 * 160)
})

t.test('a mark is reached when what was before it has left, or was dropped', async (t) => {
  const { sender, tick } = makeSender()
  sender.push(speech(2))
  sender.mark(1)
  sender.push(speech(2))
  sender.mark(2)
  t.same(
    [tick(), tick(), tick()].flatMap(({ reached }) => reached),
    [1],
  )
  t.same(sender.clear(), [2])
  t.notOk(tick().packets.some(isSpeech))
})

t.test('a background sounds where there is no speech, and its time goes on meanwhile', async (t) => {
  const { sender, tick } = makeSender()
  const next = () => tick().packets[0]?.payload[0]
  sender.setBackground((index) => (index === 3 ? undefined : new Uint8Array(160).fill(100 + index)))
  t.same([next(), next()], [100, 101])
  sender.push(speech(2))
  t.same([next(), next()], [7, 7])
  t.same([next(), next()], [104, 105])
  sender.setBackground(undefined)
  t.not(next(), 106)
})

t.test('a held call gets no packets', async (t) => {
  const { tick } = makeSender()
  t.equal(tick(1, 20, true).packets.length, 0)
})

t.test('keys are sent as events: one timestamp, growing duration, an end three times', async (t) => {
  const { sender, tick } = makeSender()
  sender.sendKeys('5#')
  const sent = Array.from({ length: 24 }, () => tick())
    .flatMap(({ packets }) => packets)
    .filter(({ payloadType }) => payloadType === 101)
  const [first] = sent
  const five = sent.filter(({ payload }) => payload[0] === 5)
  t.equal(five.length, 8)
  t.equal(new Set(five.map(({ timestamp }) => timestamp)).size, 1)
  t.same(
    five.map(({ payload }) => (payload[2]! << 8) + payload[3]!),
    [160, 320, 480, 640, 800, 800, 800, 800],
  )
  t.same(
    five.map(({ payload }) => payload[1]! >> 7),
    [0, 0, 0, 0, 0, 1, 1, 1],
  )
  t.same(
    five.map(({ marker }) => marker),
    [true, false, false, false, false, false, false, false],
  )
  t.equal(sent.filter(({ payload }) => payload[0] === 11).length, 8)
  const receiver = new RtpReceiver(CLOCK)
  t.same(sent.map((packet) => (receiver.accept(packet, 0) ? receiver.key(packet) : undefined)).filter(Boolean), [
    '5',
    '#',
  ])
  t.ok(first)
})

/** Packets of 20 ms as another side sends them. */
function stream(start = { sequence: 65_530, timestamp: 0xfffffe00, ssrc: 1 }) {
  let { sequence, timestamp } = start
  return (skipMs = 0, lost = 0): RtpPacket => {
    sequence = (sequence + lost) & 0xffff
    timestamp = (timestamp + (skipMs / 20 + lost) * 160) >>> 0
    const packet = { payloadType: 0, marker: false, sequence, timestamp, ssrc: start.ssrc, payload: speech(1) }
    sequence = (sequence + 1) & 0xffff
    timestamp = (timestamp + 160) >>> 0
    return packet
  }
}

t.test('the time line goes on over the wraps of number and timestamp, and shows what was lost', async (t) => {
  const receiver = new RtpReceiver(CLOCK)
  const next = stream()
  const times = [next(), next(), next(0, 2), ...Array.from({ length: 10 }, () => next())].map((packet) => {
    t.ok(receiver.accept(packet, 0))
    return place(receiver, packet)
  })
  t.same(times.slice(0, 4), [0, 160, 640, 800])
  t.same(times.at(-1), 640 + 160 * 10)
  t.match(receiver.figures(), { packetsLost: 2, highestSequence: 65_530 + 14 })
})

t.test('a packet that comes twice counts once, one out of order keeps its place', async (t) => {
  const receiver = new RtpReceiver(CLOCK)
  const next = stream()
  const [a, b, c] = [next(), next(), next()]
  t.ok(receiver.accept(a, 0))
  place(receiver, a)
  t.ok(receiver.accept(c, 0))
  t.equal(place(receiver, c), 320)
  t.ok(receiver.accept(b, 0))
  t.equal(place(receiver, b), 160)
  t.notOk(receiver.accept(b, 0))
  t.notOk(receiver.accept(c, 0))
})

t.test('a sender that is silent for a while goes on where the silence put in its place ends', async (t) => {
  const receiver = new RtpReceiver(CLOCK)
  const next = stream()
  const take = (packet: RtpPacket) => (receiver.accept(packet, 0) ? place(receiver, packet) : -1)
  t.equal(take(next()), 0)
  for (let i = 0; i < 5; i++) receiver.silence(speech(1), 160)
  t.equal(take(next(400)), 960)
})

t.test('packets that were only late are appended to the silence that stood in for them, up to a second', async (t) => {
  for (const [stallMs, heard] of [
    [200, 10],
    [500, 25],
    [1_000, 50],
  ] as const) {
    const receiver = new RtpReceiver(CLOCK)
    const next = stream()
    const take = (packet: RtpPacket) => (receiver.accept(packet, 0) ? place(receiver, packet) : -1)
    take(next())
    let silent = 0
    for (let ms = 100; ms < stallMs; ms += 20) if (receiver.silence(speech(1), 160) !== undefined) silent++
    const burst = Array.from({ length: stallMs / 20 }, () => take(next()))
    t.same(
      burst,
      Array.from({ length: heard }, (_, i) => 160 * (1 + silent + i)),
      `a stall of ${stallMs} ms`,
    )
    t.equal(receiver.late, 0)
  }
})

t.test('time that was heard twice is made up for in the pauses', async (t) => {
  const receiver = new RtpReceiver(CLOCK)
  const next = stream()
  const take = (quiet = false) => {
    const packet = next()
    return receiver.accept(packet, 0) ? place(receiver, packet, quiet) : -1
  }
  take()
  for (let i = 0; i < 5; i++) receiver.silence(speech(1), 160)
  t.equal(take(), 960)
  t.same(
    Array.from({ length: 7 }, () => take(true)),
    [-1, -1, -1, -1, -1, 1_120, 1_280],
    'as much as was put in: five frames of the pause are left out',
  )
  t.equal(take(), 1_440)
})

t.test('what is later than a second in all is not heard', async (t) => {
  const receiver = new RtpReceiver(CLOCK)
  const next = stream()
  const take = (packet: RtpPacket) => (receiver.accept(packet, 0) ? place(receiver, packet) : -1)
  take(next())
  for (let i = 0; i < 60; i++) receiver.silence(speech(1), 160)
  t.equal(take(next()), -1)
  t.equal(receiver.late, 1)
})

t.test("a wide-band stream's clock is not its sample rate", async (t) => {
  const receiver = new RtpReceiver({ clockHz: 8_000, sampleRateHz: 16_000 })
  const next = stream()
  const times = Array.from({ length: 3 }, () => {
    const packet = next()
    receiver.accept(packet, 0)
    return receiver.audio(packet, new Uint8Array(640), 320, () => false)?.timestamp
  })
  t.same(times, [0, 320, 640])
})

t.test('packets hold as much as the other side wants', async (t) => {
  for (const [ptimeMs, sizes] of [
    [10, 12],
    [30, 4],
    [40, 3],
    [60, 2],
  ] as const) {
    const { sender, tick } = makeSender({ ptimeMs })
    sender.push(speech(8))
    const packets = Array.from({ length: 6 }, () => tick()).flatMap(({ packets }) => packets)
    t.equal(packets.length, sizes, `${ptimeMs} ms`)
    t.ok(packets.every(({ payload }) => payload.length === ptimeMs * 8))
    t.same(
      packets.map(({ timestamp }) => (timestamp - packets[0]!.timestamp) >>> 0),
      packets.map((_, i) => i * ptimeMs * 8),
    )
  }
})

t.test('keys are pressed in the sound where the other side takes no events', async (t) => {
  const { sender, tick } = makeSender({ events: undefined })
  sender.sendKeys('5#')
  const packets = Array.from({ length: 24 }, () => tick()).flatMap(({ packets }) => packets)
  t.ok(packets.every(({ payloadType }) => payloadType === 0))
  const detector = new DtmfDetector(8_000)
  t.same(
    packets.flatMap(({ payload }) => detector.push(decodeG711('pcmu', payload))),
    ['5', '#'],
  )
})

t.test('a new source, or a number far away, begins anew without a jump in time', async (t) => {
  const receiver = new RtpReceiver(CLOCK)
  const take = (packet: RtpPacket) => (receiver.accept(packet, 0) ? place(receiver, packet) : -1)
  const before = stream()
  take(before())
  t.equal(take(before()), 160)
  t.equal(take(stream({ sequence: 5, timestamp: 77, ssrc: 2 })()), 320)
  const after = stream({ sequence: 30_000, timestamp: 12_345_678, ssrc: 2 })
  t.equal(take(after()), -1, 'one packet may be a stray')
  t.equal(take(after()), 480, 'two in a row are the stream')
})

t.test('a sequence number that jumps back goes on after two packets, and nothing counts as lost', async (t) => {
  for (const back of [70, 500, 3_000, 20_000]) {
    const receiver = new RtpReceiver(CLOCK)
    const next = stream({ sequence: 30_000, timestamp: 0, ssrc: 1 })
    for (let i = 0; i < 100; i++) {
      const packet = next()
      if (receiver.accept(packet, i * 20)) place(receiver, packet)
    }
    const again = stream({ sequence: 30_100 - back, timestamp: 16_000, ssrc: 1 })
    const heard = Array.from({ length: 50 }, (_, i) => {
      const packet = again()
      return receiver.accept(packet, (100 + i) * 20) && place(receiver, packet) >= 0
    })
    t.equal(heard.filter(Boolean).length, 49, `back by ${back}`)
    t.equal(receiver.quality.lost, 0)
  }
})

t.test('a clock that is set is no jitter', async (t) => {
  const receiver = new RtpReceiver(CLOCK)
  const next = stream()
  for (let i = 0; i < 10; i++) receiver.accept(next(), i * 20)
  for (let i = 10; i < 20; i++) receiver.accept({ ...next(), timestamp: i % 2 === 0 ? 0 : 0x7fffffff }, i * 20)
  t.ok(receiver.quality.jitterMs < 20, String(receiver.quality.jitterMs))
})

t.test('a report can be read by the other side', async (t) => {
  const figures = { ssrc: 9, fractionLost: 0.25, packetsLost: 3, highestSequence: 70_000, jitter: 12.4 }
  const sent = { ssrc: 1, nowMs: 1_700_000_000_500, rtpTimestamp: 5, packets: 10, bytes: 1_600 }
  const bytes = writeReport(sent, figures, undefined, 'patchbay', true)
  t.equal(bytes.length % 4, 0)
  // The middle of 3,908,988,800.5 s since 1900.
  const ntp = ((3_908_988_800 & 0xffff) * 0x10000 + 0x8000) >>> 0
  t.same(readReport(bytes, 9), { fractionLost: 0.25, ntp, echoed: undefined })
  t.same(readReport(bytes, 8), { fractionLost: undefined, ntp, echoed: undefined })
  t.equal(readReport(Buffer.from('no report at all'), 9), undefined)
})

t.test("a report names the other side's last one and how long ago it came", async (t) => {
  const figures = { ssrc: 9, fractionLost: 0, packetsLost: 0, highestSequence: 1, jitter: 0 }
  const sent = { ssrc: 1, nowMs: 0, rtpTimestamp: 0, packets: 1, bytes: 160 }
  const bytes = writeReport(sent, figures, { ntp: 0x12345678, delayMs: 1_500 }, 'patchbay', false)
  t.equal(bytes.readUInt32BE(28 + 16), 0x12345678)
  t.equal(bytes.readUInt32BE(28 + 20), 1.5 * 65_536)
  const none = writeReport(sent, figures, undefined, 'patchbay', false)
  t.equal(none.readUInt32BE(28 + 16), 0)
})

t.test('the round trip is told by the report that names ours', async (t) => {
  const figures = { ssrc: 9, fractionLost: 0, packetsLost: 0, highestSequence: 1, jitter: 0 }
  const sent = { ssrc: 1, nowMs: 1_700_000_000_500, rtpTimestamp: 0, packets: 1, bytes: 160 }
  const { ntp } = readReport(writeReport({ ...sent, ssrc: 9 }, undefined, undefined, 'patchbay', false), 9)!
  const answer = readReport(writeReport(sent, figures, { ntp: ntp!, delayMs: 250 }, 'peer', false), 9)
  t.ok(Math.abs(roundTripMs(answer!.echoed!, 1_700_000_000_500 + 250 + 120) - 120) < 1)
})

t.test('whoever has sent nothing reports as a receiver', async (t) => {
  const figures = { ssrc: 9, fractionLost: 0.5, packetsLost: 3, highestSequence: 7, jitter: 0 }
  const sent = { ssrc: 1, nowMs: 0, rtpTimestamp: 0, packets: 0, bytes: 0 }
  const bytes = writeReport(sent, figures, undefined, 'patchbay', false)
  t.equal(bytes[1], 201)
  t.same(readReport(bytes, 9), { fractionLost: 0.5, ntp: undefined, echoed: undefined })
})

t.test('the packets of a key, which have one timestamp, are no jitter', async (t) => {
  const receiver = new RtpReceiver(CLOCK)
  const next = stream()
  for (let i = 0; i < 50; i++) receiver.accept(next(), i * 20)
  const key = { ...next(), payloadType: 101 }
  for (let i = 0; i < 20; i++) receiver.accept({ ...key, sequence: (key.sequence + i) & 0xffff }, (50 + i) * 20)
  t.ok((receiver.figures()?.jitter ?? 99) < 1, String(receiver.figures()?.jitter))
})

t.test('losses that come together are told from lone ones, late packets and swapped ones included', async (t) => {
  const receiver = new RtpReceiver(CLOCK)
  const send = (sequence: number, atMs = sequence * 20) => {
    const packet = { payloadType: 0, marker: false, sequence, timestamp: sequence * 160, ssrc: 1, payload: speech(1) }
    if (receiver.accept(packet, atMs)) place(receiver, packet)
  }
  for (let i = 0; i < 200; i++) send(i)
  t.equal(receiver.losses, undefined)
  // Swapped: nothing is lost.
  send(201)
  send(200)
  const gone = new Set([250, 251, 252, 254, 320])
  for (let i = 202; i < 500; i++) if (!gone.has(i)) send(i)
  const { burstDensity, burstMs, gapDensity } = receiver.losses!
  t.equal(burstDensity, 4 / 5)
  t.equal(burstMs, 100)
  t.equal(gapDensity, 1 / (436 - 5))
  t.equal(receiver.quality.lost, 5)
})
