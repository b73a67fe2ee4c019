import type { tts } from '@livekit/agents'
import { joinSamples } from '../../media/frame.ts'
import { within } from '../providers/patience.ts'

interface RenderOptions {
  /** What is made, for the error of one that takes too long. */
  what: string
  timeoutMs: number
  /** More of the sound is left out. */
  maxMs: number
}

/** All sound of a text, mono. Throws what the voice throws, and after its time; a voice that makes no sound gives no samples. */
export async function renderSpeech(
  source: tts.TTS,
  text: string,
  { what, timeoutMs, maxMs }: RenderOptions,
): Promise<{ samples: Int16Array; sampleRateHz: number }> {
  const stream = source.stream()
  const pieces: Int16Array[] = []
  let sampleRateHz = source.sampleRate
  let lengthMs = 0
  const speak = async (): Promise<void> => {
    stream.pushText(text)
    stream.endInput()
    for await (const piece of stream) {
      if (typeof piece === 'symbol') continue
      const { frame } = piece
      sampleRateHz = frame.sampleRate
      pieces.push(frame.data.slice())
      lengthMs += (frame.samplesPerChannel * 1_000) / frame.sampleRate
      if (lengthMs > maxMs) break
    }
  }
  try {
    await within(timeoutMs, what, speak())
  } finally {
    stream.close()
  }
  return { samples: joinSamples(pieces), sampleRateHz }
}
