import { VADEventType } from '@livekit/agents'
import { test } from 'tap'
import { FLOOR_EVIDENCE_MS } from '../../../../../runtime/conversation/hearing/barge-in.ts'
import { InboundAudio } from '../../../../../runtime/conversation/hearing/inbound-audio.ts'
import { VoiceActivity } from '../../../../../runtime/conversation/hearing/voice-activity.ts'
import { samplesPerFrame } from '../../../../../runtime/media/frame.ts'
import { sharedModels } from '../support/harness.ts'
import { lineNoise, speech } from '../support/speech.ts'

const RATE_HZ = 16_000
const at = (samples: Int16Array, dB: number) => samples.map((sample) => Math.round(sample * 10 ** (dB / 20)))

/** The most evidence that a sound over the agent's speech gave: milliseconds. @param turn what the caller had said before */
async function evidenceOf(sound: Int16Array, turn?: Int16Array): Promise<number> {
  let nowMs = 0
  const inbound = new InboundAudio({ nowMs: () => nowMs, monotonicMs: () => nowMs })
  let contested = false
  const clock = { nowMs: () => nowMs, monotonicMs: () => nowMs }
  const voice = new VoiceActivity(inbound, await sharedModels(), clock, {
    speechStarted: () => undefined,
    contested: () => contested,
    speechEnded: () => undefined,
  })
  const stream = voice.stream()
  const hear = async (samples: Int16Array) => {
    for (let from = 0; from < samples.length; from += samplesPerFrame(RATE_HZ)) {
      nowMs += 20
      inbound.hear(samples.slice(from, from + samplesPerFrame(RATE_HZ)), nowMs)
      await inbound.caughtUp()
    }
  }
  let mostMs = 0
  const reading = (async () => {
    for await (const event of stream)
      if (contested && event.type === VADEventType.INFERENCE_DONE) mostMs = Math.max(mostMs, event.speechDuration)
  })()
  if (turn !== undefined) await hear(turn)
  await hear(lineNoise(RATE_HZ))
  contested = true
  await hear(sound)
  await hear(lineNoise(RATE_HZ))
  stream.close()
  await reading
  return mostMs
}

const TURN = speech('Good morning, I would like to ask something about my last bill.', RATE_HZ)
const WORDS = speech('Wait, how much was that again?', RATE_HZ)

test('a voice that is far quieter than the caller wants no floor: a television, or the next table', async (t) => {
  const near = await evidenceOf(WORDS, TURN)
  t.ok(near > 400, `${near} ms of evidence`)
  const far = await evidenceOf(at(WORDS, -22), TURN)
  t.ok(far < FLOOR_EVIDENCE_MS.normal, `${far} ms of evidence`)
})

test('a caller who speaks lower than before is heard, and so is one who has said nothing yet', async (t) => {
  t.ok((await evidenceOf(at(WORDS, -8), TURN)) > 400)
  t.ok((await evidenceOf(at(WORDS, -22))) > 400)
})

test('it is known what of the sound is speech once the model is done with it, or nothing more is judged', async (t) => {
  const clock = { nowMs: () => 0, monotonicMs: () => 0 }
  const inbound = new InboundAudio(clock)
  const voice = new VoiceActivity(inbound, await sharedModels(), clock, {
    speechStarted: () => undefined,
    contested: () => false,
    speechEnded: () => undefined,
  })
  const stream = voice.stream()
  let known = false
  const judged = voice.judged(1_000)!.then(() => {
    known = true
  })
  inbound.hear(lineNoise(0.9 * RATE_HZ))
  await voice.judged(896)
  t.notOk(known)
  inbound.hear(lineNoise(0.2 * RATE_HZ))
  await judged
  t.equal(voice.judged(1_000), undefined)
  const never = voice.judged(5_000)
  stream.close()
  await never
})
