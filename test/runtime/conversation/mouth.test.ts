import { initializeLogger } from '@livekit/agents'
import { AudioFrame } from '@livekit/rtc-node'
import { test } from 'tap'
import { Mouth } from '../../../runtime/conversation/mouth.ts'
import { bytesOf } from '../../../runtime/media/frame.ts'
import { RecordingPort } from './support/harness.ts'

initializeLogger({ pretty: false, level: 'silent' })

const RATE_HZ = 8000
const FRAME = 160

function makeMouth() {
  let nowMs = 0
  const port = new RecordingPort()
  const audibleAtMs: number[] = []
  const mouth = new Mouth(
    { encoding: 'pcm_s16le', sampleRateHz: RATE_HZ },
    bytesOf,
    port,
    { nowMs: () => nowMs, monotonicMs: () => nowMs },
    { started: () => {}, audible: (atMs) => audibleAtMs.push(atMs), progress: () => {} },
  )
  return {
    port,
    mouth,
    audibleAtMs,
    sent: () => port.audioAtMs.length,
    ticks(count: number) {
      for (let i = 0; i < count; i++) {
        nowMs += 20
        mouth.tick(1)
      }
    },
    /** Frames of a loud tone, at the leg's rate. */
    speak(frames: number) {
      const samples = new Int16Array(frames * FRAME).fill(1000)
      return mouth.captureFrame(new AudioFrame(samples, RATE_HZ, 1, samples.length))
    },
  }
}

test('the first frame leaves at once, the others one a tick, and the end is marked', async (t) => {
  const { mouth, port, speak, sent, ticks } = makeMouth()
  mouth.addText('one two')
  mouth.textDone()
  await speak(5)
  t.equal(sent(), 1)
  ticks(2)
  t.equal(sent(), 3)
  mouth.flush()
  ticks(2)
  t.equal(sent(), 5)
  t.strictSame(port.marks, [0])
  t.equal((await mouth.waitForPlayout()).playbackPosition, 0.1)
  t.match(mouth.takeHeard(), { text: 'one two', playedMs: 100 })
  t.equal(mouth.takeHeard(), undefined)
})

test('words wait for their sound, whatever else ends meanwhile', async (t) => {
  const { mouth, speak, ticks } = makeMouth()
  mouth.addText('one two')
  mouth.textDone()
  t.equal(mouth.takeHeard(), undefined, 'another speech has ended')
  await speak(5)
  mouth.flush()
  ticks(5)
  t.match(mouth.takeHeard(), { text: 'one two' })
})

test('words that no sound came for are not laid to the next speech', async (t) => {
  const { mouth, speak, ticks } = makeMouth()
  mouth.addText('never said')
  mouth.textDone()
  mouth.dropUnspoken()
  mouth.addText('one two')
  mouth.textDone()
  await speak(5)
  mouth.flush()
  ticks(5)
  t.match(mouth.takeHeard(), { text: 'one two' })
})

test('what is cleared is not sent, and only the words played count', async (t) => {
  const { mouth, port, speak, sent, ticks } = makeMouth()
  mouth.addText('one two three four')
  mouth.textDone()
  await speak(100)
  mouth.flush()
  ticks(49)
  mouth.clearBuffer()
  ticks(10)
  t.equal(sent(), 50)
  t.equal(port.clears, 1)
  const { interrupted, synchronizedTranscript } = await mouth.waitForPlayout()
  t.strictSame([interrupted, synchronizedTranscript], [true, 'one two'])
  t.strictSame(port.marks, [])
})

test('a pause drops what the client holds and goes on with it when it was a false alarm', async (t) => {
  const { mouth, port, speak, sent, ticks } = makeMouth()
  await speak(10)
  mouth.flush()
  ticks(10)
  ticks(5)
  mouth.played(0)
  mouth.addText('one two three four')
  mouth.textDone()
  await speak(20)
  mouth.flush()
  ticks(9)
  const before = sent()
  t.match(mouth.heardSoFar(), { text: 'one' }, 'six frames are on their way to the ear')
  mouth.pause()
  t.equal(port.clears, 1)
  ticks(10)
  t.equal(sent(), before)
  t.match(mouth.heardSoFar(), { text: 'one' })
  mouth.resume()
  ticks(30)
  t.equal(sent() - before, 10 + 6, 'what was dropped is said again')
})

test('silence before the first sound is cut, and the first sound is timed', async (t) => {
  const { mouth, audibleAtMs, sent, ticks } = makeMouth()
  const samples = new Int16Array(FRAME * 20)
  samples.fill(1000, FRAME * 10)
  await mouth.captureFrame(new AudioFrame(samples, RATE_HZ, 1, samples.length))
  ticks(20)
  t.equal(sent(), 10)
  t.strictSame(audibleAtMs, [10])
})

test('a synthesiser that is far ahead waits, and goes on when stopped', async (t) => {
  const { mouth, speak } = makeMouth()
  let done = false
  const waiting = speak(600).then(() => {
    done = true
  })
  await new Promise((resolve) => setImmediate(resolve))
  t.notOk(done)
  mouth.stop()
  await waiting
  t.ok(done)
})
