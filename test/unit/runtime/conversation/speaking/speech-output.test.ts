import { initializeLogger, USERDATA_TIMED_TRANSCRIPT } from '@livekit/agents'
import { AudioFrame } from '@livekit/rtc-node'
import { test } from 'tap'
import { SpeechOutput } from '../../../../../runtime/conversation/speaking/speech-output.ts'
import { bytesOf, samplesOf } from '../../../../../runtime/media/frame.ts'
import { RecordingPort } from '../support/harness.ts'

initializeLogger({ pretty: false, level: 'silent' })

const RATE_HZ = 8000
const FRAME = 160

function makeOutput() {
  let nowMs = 0
  const port = new RecordingPort()
  const audibleAtMs: number[] = []
  let words: PromiseWithResolvers<void> | undefined
  const output = new SpeechOutput(
    { encoding: 'pcm_s16le', sampleRateHz: RATE_HZ },
    bytesOf,
    port,
    { nowMs: () => nowMs, monotonicMs: () => nowMs },
    {
      started: () => {},
      audible: (atMs) => audibleAtMs.push(atMs),
      progress: () => {},
      fillerOver: () => {},
      wordsSettled: () => words?.promise,
    },
  )
  return {
    port,
    output,
    audibleAtMs,
    sent: () => port.audioAtMs.length,
    /** The caller said something; its words are not known before the returned function is called. */
    callerSays() {
      const said = Promise.withResolvers<void>()
      words = said
      return async () => {
        words = undefined
        said.resolve()
        await said.promise
      }
    },
    ticks(count: number) {
      for (let i = 0; i < count; i++) {
        nowMs += 20
        output.tick(1)
      }
    },
    /** Frames of a loud tone, at the leg's rate. */
    speak(frames: number) {
      const samples = new Int16Array(frames * FRAME).fill(1000)
      return output.captureFrame(new AudioFrame(samples, RATE_HZ, 1, samples.length))
    },
  }
}

test('the first frame leaves at once, the others one a tick, and the end is marked', async (t) => {
  const { output, port, speak, sent, ticks } = makeOutput()
  output.addText('one two')
  output.textDone()
  await speak(5)
  t.equal(sent(), 1)
  ticks(2)
  t.equal(sent(), 3)
  output.flush()
  ticks(2)
  t.equal(sent(), 5)
  t.strictSame(port.marks, [0])
  t.equal((await output.waitForPlayout()).playbackPosition, 0.1)
  t.match(output.takePlayedText(), { text: 'one two', playedMs: 100 })
  t.equal(output.takePlayedText(), undefined)
})

test('words wait for their sound, whatever else ends meanwhile', async (t) => {
  const { output, speak, ticks } = makeOutput()
  output.addText('one two')
  output.textDone()
  t.equal(output.takePlayedText(), undefined, 'another speech has ended')
  await speak(5)
  output.flush()
  ticks(5)
  t.match(output.takePlayedText(), { text: 'one two' })
})

test('words that no sound came for are not laid to the next speech', async (t) => {
  const { output, speak, ticks } = makeOutput()
  output.addText('never said')
  output.textDone()
  output.dropUnspoken()
  output.addText('one two')
  output.textDone()
  await speak(5)
  output.flush()
  ticks(5)
  t.match(output.takePlayedText(), { text: 'one two' })
})

test('what is cleared is not sent, and only the words played count', async (t) => {
  const { output, port, speak, sent, ticks } = makeOutput()
  output.addText('one two three four')
  output.textDone()
  await speak(100)
  output.flush()
  ticks(49)
  output.clearBuffer()
  ticks(10)
  t.equal(sent(), 50)
  t.equal(port.clears, 1)
  const { interrupted, synchronizedTranscript } = await output.waitForPlayout()
  t.strictSame([interrupted, synchronizedTranscript], [true, 'one two'])
  t.strictSame(port.marks, [])
})

test('where the voice says when its words begin, those heard are told by it', async (t) => {
  const { output, ticks } = makeOutput()
  output.addText('It is $1,250.00 a month.')
  output.textDone()
  const samples = new Int16Array(200 * FRAME).fill(1000)
  const frame = new AudioFrame(samples, RATE_HZ, 1, samples.length)
  const words = [
    { text: 'It', startTime: 0 },
    { text: 'is', startTime: 0.2 },
    { text: '$1,250.00', startTime: 0.4 },
    { text: 'a', startTime: 3.4 },
  ]
  frame.userdata[USERDATA_TIMED_TRANSCRIPT] = words
  await output.captureFrame(frame)
  output.flush()
  ticks(149)
  output.clearBuffer()
  t.match(output.takePlayedText(), { text: 'It is $1,250.00', playedMs: 3_000 })
})

test('a pause drops what the client holds and goes on with it when it was a false alarm', async (t) => {
  const { output, port, speak, sent, ticks } = makeOutput()
  await speak(10)
  output.flush()
  ticks(10)
  ticks(5)
  output.played(0)
  output.addText('one two three four')
  output.textDone()
  await speak(20)
  output.flush()
  ticks(9)
  const before = sent()
  t.match(output.heardSoFar(), { text: 'one' }, 'six frames are on their way to the ear')
  output.pause()
  t.equal(port.clears, 1)
  ticks(10)
  t.equal(sent(), before)
  t.match(output.heardSoFar(), { text: 'one' })
  output.resume()
  ticks(30)
  t.equal(sent() - before, 10 + 6, 'what was dropped is said again')
})

/** Frames that can be told apart, and what a client hears of them that plays so much later and drops what it is told to. */
function numbered(line: ReturnType<typeof makeOutput>, delayFrames: number) {
  const heard: number[] = []
  let held: { due: number; value: number }[] = []
  let tick = 0
  line.port.onAudio = (bytes) => void held.push({ due: tick + delayFrames, value: samplesOf(bytes)[0]! })
  line.port.onClear = () => {
    held = []
  }
  const play = () => {
    tick++
    while (held[0] !== undefined && held[0].due <= tick) heard.push(held.shift()!.value)
  }
  return {
    heard,
    /** Frames first, first + 1 … of a piece of speech. */
    speak: (first: number, frames: number) => {
      const samples = new Int16Array(frames * FRAME)
      for (let i = 0; i < frames; i++) samples.fill(1000 + first + i, i * FRAME, (i + 1) * FRAME)
      return line.output.captureFrame(new AudioFrame(samples, RATE_HZ, 1, samples.length))
    },
    ticks(count: number) {
      for (let i = 0; i < count; i++) {
        line.ticks(1)
        play()
      }
    },
  }
}

for (const delayMs of [60, 420, 620, 1000, 1800]) {
  test(`false interruptions lose nothing and repeat nothing where the line takes ${delayMs} ms`, async (t) => {
    const line = makeOutput()
    const { output, port } = line
    const { heard, speak, ticks } = numbered(line, delayMs / 20)
    // The line's delay is learnt of a first piece of speech.
    await speak(0, 5)
    output.flush()
    ticks(4 + delayMs / 20)
    output.played(0)
    heard.length = 0
    output.addText('all of it')
    output.textDone()
    await speak(0, 399)
    output.flush()
    ticks(150)
    for (let coughs = 0; coughs < 6; coughs++) {
      output.pause()
      ticks(20)
      output.resume()
      ticks(18)
    }
    ticks(600)
    const expected = Array.from({ length: 399 }, (_, i) => 1000 + i)
    // What is in the ear when the client is told to stop can't be called back to the frame.
    const lost = expected.filter((value) => !heard.includes(value)).length
    const twice = heard.length - new Set(heard).size
    t.equal(lost, 0, `${lost} of 399 frames were never heard`)
    t.ok(twice <= 6, `${twice} were heard twice`)
    t.match(output.takePlayedText(), { text: 'all of it' })
    t.equal(port.marks.length, 2)
  })
}

test('an end that the client still held when the next piece was paused is heard, too', async (t) => {
  const line = makeOutput()
  const { output } = line
  const { heard, speak, ticks } = numbered(line, 30)
  await speak(0, 5)
  output.flush()
  ticks(35)
  output.played(0)
  await speak(100, 20)
  output.flush()
  ticks(20)
  await speak(200, 40)
  output.flush()
  ticks(10)
  output.pause()
  ticks(30)
  output.resume()
  ticks(120)
  for (let value = 1100; value < 1120; value++) t.ok(heard.includes(value), `frame ${value}`)
  for (let value = 1200; value < 1240; value++) t.ok(heard.includes(value), `frame ${value}`)
})

test('silence before the first sound is cut, and the first sound is timed', async (t) => {
  const { output, audibleAtMs, sent, ticks } = makeOutput()
  const samples = new Int16Array(FRAME * 20)
  samples.fill(1000, FRAME * 10)
  await output.captureFrame(new AudioFrame(samples, RATE_HZ, 1, samples.length))
  ticks(20)
  t.equal(sent(), 10)
  t.strictSame(audibleAtMs, [10])
})

test('a synthesiser that is far ahead waits, and goes on when stopped', async (t) => {
  const { output, speak } = makeOutput()
  let done = false
  const waiting = speak(600).then(() => {
    done = true
  })
  await new Promise((resolve) => setImmediate(resolve))
  t.notOk(done)
  output.stop()
  await waiting
  t.ok(done)
})

test('a synthesiser that is far ahead brings as much as was sent meanwhile, not seconds in one go', async (t) => {
  const { output, speak, sent, ticks } = makeOutput()
  let brought = 0
  const bringing = (async () => {
    for (; brought < 1_000; brought += 5) await speak(5)
  })()
  const settle = () => new Promise((resolve) => setImmediate(resolve))
  await settle()
  const ahead = brought
  for (let tick = 1; tick <= 400; tick++) {
    const before = brought
    ticks(1)
    await settle()
    if (brought - before > 5) t.fail(`${brought - before} frames in the time of one`)
  }
  t.ok(brought - ahead >= sent() - 5, `${brought - ahead} brought while ${sent()} were sent`)
  output.stop()
  // Once it is over nothing holds it up.
  brought = 1_000
  await bringing
})

test('on hold nothing is sent, whoever resumes what; afterwards it goes on', async (t) => {
  const { output, speak, sent, ticks } = makeOutput()
  output.addText('one two three')
  await speak(10)
  ticks(3)
  t.equal(sent(), 4)
  output.hold(true)
  output.pause()
  output.resume()
  ticks(50)
  t.equal(sent(), 4)
  output.hold(false)
  ticks(3)
  t.equal(sent(), 7)
})

test('speech that a voice stopped goes on only when it is known that the voice said nothing', async (t) => {
  const { output, speak, sent, ticks, callerSays } = makeOutput()
  output.addText('one two three')
  await speak(50)
  ticks(5)
  const known = callerSays()
  output.pause()
  output.resume()
  const before = sent()
  ticks(10)
  t.equal(sent(), before, 'its words are on their way')
  await known()
  ticks(10)
  t.ok(sent() > before)
})

test('what the words end is not held back for them, nor is what is said after it', async (t) => {
  const { output, speak, sent, ticks, callerSays } = makeOutput()
  output.addText('one two three')
  await speak(50)
  ticks(5)
  callerSays()
  output.pause()
  output.resume()
  output.clearBuffer()
  const before = sent()
  output.resume()
  output.addText('four')
  await speak(10)
  ticks(5)
  t.ok(sent() > before)
  const known = callerSays()
  output.pause()
  output.resume()
  output.pause()
  await known()
  const paused = sent()
  ticks(5)
  t.equal(sent(), paused, 'a new voice stops it anew')
})
