import { VADEventType } from '@livekit/agents'
import { FLOOR_EVIDENCE_MS, isBackchannel } from '../../runtime/conversation/hearing/barge-in.ts'
import { InboundAudio } from '../../runtime/conversation/hearing/inbound-audio.ts'
import { VoiceActivity } from '../../runtime/conversation/hearing/voice-activity.ts'
import { languageOf } from '../../runtime/conversation/languages/index.ts'
import type { LocalModels } from '../../runtime/conversation/providers/models.ts'
import { samplesPerFrame } from '../../runtime/media/frame.ts'
import { numbers } from '../../test/support/phone/numbers.ts'
import { JUDGED_RATE_HZ } from './rows.ts'
import type { LineSound } from './sounds.ts'

/** Speech after which a stock session does (agents 1.8.1: minDuration), and after which one does that is set to be as quick as ours. */
const STOCK_MS = 500
const QUICK_MS = 256
const QUIET_BEFORE_MS = 600
const QUIET_AFTER_MS = 1_000

export const FLOOR_DECIDERS = ['ours', 'stock', 'stock, as quick'] as const
/** When the agent fell silent, from the first sound; undefined: it spoke on. */
export type FloorVerdict = Readonly<Record<(typeof FLOOR_DECIDERS)[number], number | undefined>>

/**
 * Plays what a caller says, and then a sound while the agent speaks, to the product's own voice activity.
 * @param turn the caller's usual speech; undefined: they have said nothing yet
 */
export async function judgeSound(
  models: LocalModels,
  sound: LineSound,
  turn: Int16Array | undefined,
  wordsLateMs: number,
): Promise<FloorVerdict> {
  let nowMs = 0
  const clock = { nowMs: () => nowMs, monotonicMs: () => nowMs }
  const inbound = new InboundAudio(clock)
  let contested = false
  const voice = new VoiceActivity(inbound, models, clock, {
    speechStarted: () => undefined,
    contested: () => contested,
    speechEnded: () => undefined,
  })
  const stream = voice.stream()
  const hear = async (samples: Int16Array) => {
    const frame = samplesPerFrame(JUDGED_RATE_HZ)
    for (let at = 0; at < samples.length; at += frame) {
      nowMs += 20
      inbound.hear(noisy(samples.slice(at, at + frame)), nowMs)
      await inbound.caughtUp()
    }
  }
  const quiet = (ms: number) => new Int16Array((JUDGED_RATE_HZ / 1000) * ms)
  const verdict: Record<(typeof FLOOR_DECIDERS)[number], number | undefined> = {
    ours: undefined,
    stock: undefined,
    'stock, as quick': undefined,
  }
  let onsetMs = Number.POSITIVE_INFINITY
  const reading = (async () => {
    for await (const event of stream) {
      const atMs = event.timestamp - onsetMs
      if (atMs < 0) continue
      if (event.type === VADEventType.INFERENCE_DONE && event.speechDuration >= FLOOR_EVIDENCE_MS.normal)
        verdict.ours ??= atMs
      if (event.rawAccumulatedSpeech >= STOCK_MS) verdict.stock ??= atMs
      if (event.rawAccumulatedSpeech >= QUICK_MS) verdict['stock, as quick'] ??= atMs
    }
  })()
  if (turn !== undefined) await hear(turn)
  await hear(quiet(QUIET_BEFORE_MS))
  contested = true
  onsetMs = inbound.heardMs
  await hear(sound.samples)
  await hear(quiet(QUIET_AFTER_MS))
  stream.close()
  await reading
  // Words that are none of "go on" take the floor, too: those of the first two, or of all.
  if (sound.text !== undefined && !isBackchannel(sound.text, languageOf(sound.language))) {
    const lengthMs = (sound.samples.length * 1000) / JUDGED_RATE_HZ
    const wordsMs = Math.min(lengthMs, 600) + wordsLateMs
    verdict.ours = Math.min(verdict.ours ?? Number.POSITIVE_INFINITY, wordsMs)
  }
  return verdict
}

const random = numbers(7)

/** A line is never quite silent. */
function noisy(samples: Int16Array): Int16Array {
  return samples.map((sample) => Math.max(-32_768, Math.min(32_767, sample + Math.round(10 * random()))))
}
