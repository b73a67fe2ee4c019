import { test } from 'tap'
import { CallerVoice, type SoundSink } from '../../../../../runtime/conversation/realtime/caller-voice.ts'

const RATE_HZ = 16_000
/** 20 ms. */
const frame = (value: number) => new Int16Array(RATE_HZ / 50).fill(value)

function sink() {
  const told = { ms: 0, forgotten: 0, turns: 0 }
  const to: SoundSink = {
    sound: (samples) => {
      told.ms += (samples.length * 1000) / RATE_HZ
    },
    forget: () => {
      told.forgotten++
    },
    forgetTurn: () => {
      told.turns++
    },
  }
  return { told, to }
}
/** How much each voice has heard. */
const heardMs = new WeakMap<CallerVoice, number>()
const hear = (voice: CallerVoice, ms: number, value = 900) => {
  for (let at = 0; at < ms; at += 20) {
    const endMs = (heardMs.get(voice) ?? 0) + 20
    heardMs.set(voice, endMs)
    voice.hear(frame(value), endMs)
  }
}
const speaks = (voice: CallerVoice, sinceMs = 0) => voice.speechStarted((heardMs.get(voice) ?? 0) - sinceMs)

test('silence is not sent; a voice is, with what came just before it and just after', async (t) => {
  const voice = new CallerVoice(RATE_HZ)
  const { told, to } = sink()
  voice.goTo(to)
  hear(voice, 2_000)
  t.equal(told.ms, 0)
  speaks(voice)
  t.ok(told.ms >= 400 && told.ms <= 520, `${told.ms} ms of lead-in`)
  hear(voice, 1_000)
  voice.speechEnded()
  const spokenMs = told.ms
  hear(voice, 2_000)
  t.ok(told.ms - spokenMs <= 240, `${told.ms - spokenMs} ms after its end`)
  t.ok(voice.hasSpoken)
})

test('what is no speech is forgotten by the session, too', async (t) => {
  const voice = new CallerVoice(RATE_HZ)
  const { told, to } = sink()
  voice.goTo(to)
  voice.drop()
  t.equal(told.forgotten, 0, 'there is nothing to forget')
  speaks(voice)
  hear(voice, 300)
  voice.speechEnded()
  voice.drop()
  t.equal(told.forgotten, 1)
  t.notOk(voice.hasSpoken)
})

test('a voice that is recognised late is sent from its beginning', async (t) => {
  const voice = new CallerVoice(RATE_HZ)
  const { told, to } = sink()
  voice.goTo(to)
  hear(voice, 4_000)
  speaks(voice, 2_000)
  t.ok(told.ms >= 2_400 && told.ms <= 2_520, `${told.ms} ms of two seconds and the lead-in`)
  hear(voice, 1_000)
  voice.speechEnded()
  hear(voice, 9_000)
  speaks(voice, 8_000)
  t.ok(told.ms <= 3_720 + 5_000, 'no more than five seconds are kept')
})

test('noise that is known as such while the caller speaks again takes none of their words', async (t) => {
  const voice = new CallerVoice(RATE_HZ)
  const { told, to } = sink()
  voice.goTo(to)
  speaks(voice)
  hear(voice, 300)
  voice.speechEnded()
  hear(voice, 1_000)
  speaks(voice)
  hear(voice, 1_000)
  const sentMs = told.ms
  voice.drop()
  t.equal(told.forgotten, 1)
  t.ok(told.ms - sentMs >= 1_400 && told.ms - sentMs <= 1_520, `${told.ms - sentMs} ms are sent again`)
  t.equal(told.turns, 0)
  voice.turnTaken()
  t.equal(told.turns, 1)
})

test('what is said while it must not listen is not sent, nor the silence after a voice that began before', async (t) => {
  const voice = new CallerVoice(RATE_HZ)
  const { told, to } = sink()
  voice.goTo(to)
  speaks(voice)
  hear(voice, 300)
  const beforeMs = told.ms
  voice.listen(false)
  t.equal(told.forgotten, 1)
  hear(voice, 1_000)
  voice.speechEnded()
  speaks(voice)
  hear(voice, 1_000)
  voice.listen(true)
  hear(voice, 1_000)
  t.equal(told.ms, beforeMs)
  t.notOk(voice.hasSpoken)
  speaks(voice)
  t.ok(told.ms - beforeMs >= 400, 'a voice is heard again, with what came just before it')
})

test('another session gets what was said and not answered, and nothing that was', async (t) => {
  const voice = new CallerVoice(RATE_HZ)
  const [first, second, third] = [sink(), sink(), sink()]
  voice.goTo(first.to)
  speaks(voice)
  hear(voice, 1_000)
  voice.goTo(second.to)
  t.ok(second.told.ms >= 1_000)
  voice.committed()
  voice.goTo(third.to)
  t.equal(third.told.ms, 0)
})

test('a turn that never ends is dropped, lest it grow for ever', async (t) => {
  const voice = new CallerVoice(RATE_HZ)
  const { told, to } = sink()
  voice.goTo(to)
  speaks(voice)
  hear(voice, 61_000)
  t.equal(told.forgotten, 1)
})
