import { test } from 'tap'
import { InboundAudio } from '../../../../../runtime/conversation/hearing/inbound-audio.ts'

const clock = { nowMs: () => 0, monotonicMs: () => 1000 }

test('the end of the sound is known to the sample', (t) => {
  const inbound = new InboundAudio(clock)
  const samples = new Int16Array(320)
  samples[159] = 5000
  inbound.hear(samples)
  t.equal(inbound.loudStretches.end(20), 10)
  t.end()
})

test('a caller whose packets stop is heard as silence, one that is only late is not', (t) => {
  let nowMs = 1000
  const inbound = new InboundAudio({ nowMs: () => nowMs, monotonicMs: () => nowMs })
  let heard = 0
  inbound.listen((samples) => {
    heard += samples.length
  })
  const tick = (atMs: number) => {
    nowMs = atMs
    inbound.tick(atMs)
  }
  inbound.hear(new Int16Array(320))
  tick(1020)
  tick(5000)
  t.equal(heard, 320, 'a stall of this process is no silence of the caller')
  for (let i = 0; i < 9; i++) tick(5000 + i * 20)
  t.equal(heard, 320 + 5 * 320)
  inbound.hear(new Int16Array(320))
  tick(6000)
  t.equal(heard, 320 + 6 * 320)
  t.end()
})

/** Ears at a desk: packets come when the test says, ticks every 20 ms. */
function atDesk() {
  let nowMs = 0
  let heardMs = 0
  let silentMs = 0
  const inbound = new InboundAudio({ nowMs: () => nowMs, monotonicMs: () => nowMs })
  inbound.listen((samples) => {
    heardMs += samples.length / 16
    if (samples.every((sample) => sample === 0)) silentMs += samples.length / 16
  })
  const packet = (level: number) => inbound.hear(new Int16Array(320).fill(level))
  return {
    heard: () => heardMs,
    silent: () => silentMs,
    now: () => nowMs,
    /** Time passes; each tick brings so many packets. */
    pass(ms: number, level: number, packets = 1) {
      for (let i = 0; i < ms / 20; i++) {
        nowMs += 20
        for (let n = 0; n < packets; n++) packet(level)
        inbound.tick(nowMs)
      }
    },
    burst(ms: number, level: number) {
      for (let i = 0; i < ms / 20; i++) packet(level)
    },
  }
}

test('a stall in the middle of a word is not filled: what comes late is heard once, and whole', (t) => {
  const { heard, silent, now, pass, burst } = atDesk()
  pass(1_000, 5_000)
  pass(700, 0, 0)
  burst(700, 5_000)
  pass(500, 5_000)
  t.equal(silent(), 0)
  t.equal(heard(), now())
  t.end()
})

test('what stood in for packets that came late after all is taken out of the next pause', (t) => {
  const { heard, now, pass, burst } = atDesk()
  pass(1_000, 5)
  pass(700, 0, 0)
  burst(700, 5_000)
  pass(500, 5_000)
  t.ok(heard() > now() + 400, 'speech is never cut')
  pass(2_000, 5)
  t.ok(heard() <= now() + 120, `${heard()} ms were heard in ${now()} ms`)
  t.end()
})

test('who fell silent between words is heard as silent, after a second at the latest', (t) => {
  const { silent, pass } = atDesk()
  pass(1_000, 5_000)
  pass(1_200, 0, 0)
  t.ok(silent() >= 160 && silent() <= 220, `${silent()} ms of silence`)
  t.end()
})

test('what was said before is heard as fast as listeners go, with its own times, and what is said now behind it', async (t) => {
  const inbound = new InboundAudio(clock)
  const heard: string[] = []
  let done = Promise.withResolvers<void>()
  inbound.listen((samples, endMs) => {
    heard.push(`${samples[0]} at ${inbound.arrivedMs(endMs)}`)
    return done.promise
  })
  const packet = (level: number) => new Int16Array(320).fill(level)
  inbound.hear(packet(1), 400)
  inbound.hear(packet(2), 420)
  inbound.hear(packet(3))
  t.equal(inbound.behind, true)
  await new Promise(setImmediate)
  t.strictSame(heard, ['1 at 400'], 'the next waits until the first was listened to')
  inbound.tick(1_000)
  done.resolve()
  await inbound.caughtUp()
  t.strictSame(heard, ['1 at 400', '2 at 420', '3 at 1000'])
  t.equal(inbound.behind, false)
  done = Promise.withResolvers()
  inbound.hear(packet(4))
  t.equal(heard.at(-1), '4 at 1000', 'what is said now waits for nobody')
})

test('a pause is never cut so short that nobody knows the words before it are over', (t) => {
  const { heard, pass, burst } = atDesk()
  pass(1_000, 5)
  pass(2_000, 0, 0)
  const before = heard()
  burst(2_000, 5_000)
  pass(700, 5)
  t.ok(heard() - before >= 2_560, `${heard() - before} ms were heard`)
  t.end()
})
