import t, { type Test } from 'tap'
import { waitUntil } from '../../../../support/world/wait-until.ts'
import { answerText } from '../support/carrier.ts'
import { description, type Law, startMedia, talkTo, voice } from '../support/media-peer.ts'

/** What callees send within a call, as the RFCs let them and as some do all the same: on real sockets. */

const FRAMES = 10
const EVENTS = 'a=rtpmap:101 telephone-event/8000'
/** What a stream's begin or a change may cost. */
const LOST_FRAMES = 3
const RELAY = 'Content-Type: application/dtmf-relay'

const frames = (law: Law, count = FRAMES): Uint8Array[] => Array.from({ length: count }, () => voice(law))
const event = (key: number, ticks: number, ended = false): Uint8Array =>
  Uint8Array.of(key, ended ? 0x8a : 10, ticks >> 8, ticks & 0xff)
const plain = (port: number): string => description(port, '0 101', EVENTS)

for (const [formats, payloadType, law] of [
  ['0 8 101', 8, 'pcma'],
  ['8 0 101', 0, 'pcmu'],
] as const) {
  t.test(`an answer of ${formats} lets the callee speak ${law}`, async (t) => {
    const { media, port, heard } = await talkTo(t, (at) => description(at, formats, EVENTS))
    await media.send(port, frames(law), { payloadType })
    await waitUntil(
      () => heard.loudFrames >= FRAMES - LOST_FRAMES,
      () => `the voice: ${heard.loudFrames} frames`,
    )
  })
}

t.test('keys are heard on the number that we named and on that of the answer', async (t) => {
  const { media, port, heard } = await talkTo(t, (at) => description(at, '0 96', 'a=rtpmap:96 telephone-event/8000'))
  for (const [key, payloadType] of [
    [4, 101],
    [2, 96],
  ] as const) {
    const { timestamp } = media.next
    const press = [event(key, 160), event(key, 320), event(key, 480, true)]
    await media.send(port, press, { payloadType, timestamp })
  }
  await waitUntil(
    () => heard.keys === '42',
    () => `the keys: ${heard.keys}`,
  )
})

t.test('a key of signalling may be a code, and one that is also an event is one press', async (t) => {
  const { media, port, heard, say } = await talkTo(t, plain)
  const { timestamp } = media.next
  await media.send(port, [event(7, 160), event(7, 320, true)], { payloadType: 101, timestamp })
  for (const signal of ['7', '10', '11', '3']) say('INFO', `Signal=${signal}\r\nDuration=160\r\n`, RELAY)
  await waitUntil(
    () => heard.keys.endsWith('3'),
    () => `the keys: ${heard.keys}`,
  )
  t.equal(heard.keys, '7*#3')
})

t.test('a key that is held for nine seconds, and one whose timestamp moves, are one press each', async (t) => {
  const { media, port, heard } = await talkTo(t, plain)
  const begin = media.next.timestamp
  for (const [at, ticks] of [
    [begin, [160, 40_000, 0xffff]],
    [begin + 0xffff, [160, 6_000]],
  ] as const) {
    await media.send(
      port,
      ticks.map((one) => event(5, one)),
      { payloadType: 101, timestamp: at },
    )
  }
  await media.send(port, [event(5, 6_465, true)], { payloadType: 101, timestamp: begin + 0xffff })
  media.next.timestamp = begin + 80_000
  await media.send(
    port,
    [160, 320, 480, 640].map((ticks) => event(6, ticks)),
    { payloadType: 101 },
  )
  media.next.timestamp += 8_000
  await media.send(port, [event(9, 160)], { payloadType: 101 })
  await waitUntil(
    () => heard.keys.endsWith('9'),
    () => `the keys: ${heard.keys}`,
  )
  t.equal(heard.keys, '569')
})

t.test('a stream whose numbers jump back, whose source changes or whose clock stands is heard on', async (t) => {
  const { media, port, heard } = await talkTo(t, plain)
  const changes = {
    'nothing yet': () => undefined,
    'numbers 500 back': () => {
      media.next.sequence -= 500
    },
    'numbers far ahead': () => {
      media.next.sequence += 20_000
    },
    'another source': () => {
      media.next.ssrc++
    },
    'a clock that was set': () => {
      media.next.timestamp += 8_000 * 3_600
    },
  }
  for (const [change, make] of Object.entries(changes)) {
    make()
    const before = heard.loudFrames
    await media.send(port, frames('pcmu', 2 * FRAMES))
    await waitUntil(
      () => heard.loudFrames - before >= 2 * FRAMES - LOST_FRAMES,
      () => `the voice after ${change}: ${heard.loudFrames - before} frames`,
    )
  }
  const before = heard.loudFrames
  await media.send(port, frames('pcmu', 2 * FRAMES), { timestamp: 0 })
  await waitUntil(
    () => heard.loudFrames - before >= 2 * FRAMES - LOST_FRAMES,
    () => `the voice of a clock that stands: ${heard.loudFrames - before} frames`,
  )
})

t.test('comfort noise is no loss, and a clock that stands no jitter', async (t) => {
  const { media, port, leg, heard, peer } = await talkTo(t, plain)
  await media.send(port, frames('pcmu'))
  await media.send(
    port,
    Array.from({ length: FRAMES }, () => Uint8Array.of(40)),
    { payloadType: 13 },
  )
  await media.send(port, frames('pcmu'), { timestamp: 0 })
  leg.close('done')
  await peer.saw('BYE')
  const figures = heard.figures.at(-1)
  t.equal(figures?.loss, 0)
  t.ok((figures?.jitterMs ?? Infinity) < 1_000, `${figures?.jitterMs} ms`)
})

/** Nothing of ours comes to the old place, which goes on, once it has come to the new one. */
const stays = (t: Test, old: readonly number[], next: readonly number[]): void => {
  const movedMs = next[0] ?? Infinity
  t.same(
    old.filter((atMs) => atMs > movedMs + 200),
    [],
    'nothing goes back',
  )
}

t.test('media that moved by a re-INVITE stay, though the old place goes on and the new one is silent', async (t) => {
  const { media: old, port, say } = await talkTo(t, plain)
  await old.send(port, frames('pcmu'))
  const next = await startMedia(t)
  say('INVITE', plain(next.port))
  await waitUntil(
    () => next.cameMs.length > 0,
    () => 'our voice at the new place',
  )
  await old.send(port, frames('pcmu', 50))
  stays(t, old.cameMs, next.cameMs)
  t.ok(next.cameMs.length > 30, `${next.cameMs.length} packets`)
})

t.test('an announcement that goes on after the answer takes no word of the agent', async (t) => {
  const announcement = await startMedia(t)
  const { media, port } = await talkTo(t, plain, (invite, peer) =>
    peer.send(answerText(invite, { status: 183, body: plain(announcement.port) }, peer.port)),
  )
  await announcement.send(port, frames('pcmu', 50))
  stays(t, announcement.cameMs, media.cameMs)
  t.ok(media.cameMs.length > 30, `${media.cameMs.length} packets`)
})
