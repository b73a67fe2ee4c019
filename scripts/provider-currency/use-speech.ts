import type { stt, tts } from '@livekit/agents'
import { AudioFrame } from '@livekit/rtc-node'

const RATE_HZ = 16_000
const ONCE = { maxRetry: 0, retryIntervalMs: 0, timeoutMs: 5_000 }

/** Has a recogniser hear a tenth of a second. */
export async function hear(recogniser: stt.STT | undefined): Promise<void> {
  if (recogniser === undefined) throw new Error('the plugin has no recogniser')
  recogniser.on('error', () => {})
  const stream = recogniser.stream({ connOptions: ONCE })
  stream.pushFrame(frame())
  stream.endInput()
  for await (const _ of stream);
}

/** Has a recogniser write down a tenth of a second at once. */
export async function transcribe(recogniser: stt.STT | undefined): Promise<void> {
  if (recogniser === undefined) throw new Error('the plugin has no recogniser')
  recogniser.on('error', () => {})
  await recogniser.recognize(frame())
}

/** Has a voice say two sentences. */
export async function speak(voice: tts.TTS | undefined): Promise<void> {
  if (voice === undefined) throw new Error('the plugin has no voice')
  voice.on('error', () => {})
  const stream = voice.stream({ connOptions: ONCE })
  stream.pushText('Hello there, this is Ada. How can I help you today?')
  stream.endInput()
  for await (const _ of stream);
}

function frame(): AudioFrame {
  const samples = new Int16Array(RATE_HZ / 10)
  return new AudioFrame(samples, RATE_HZ, 1, samples.length)
}
