import type { ObjectStore } from '../plugin/contract.ts'
import { BYTES_PER_FRAME, sampleRateOf, WAV_HEAD_BYTES } from './wav.ts'

/** Some of a recording: 16-bit stereo frames, the caller on the left. */
interface RecordingCut {
  sampleRateHz: number
  dataBytes: number
  /** Undefined where nothing lies there. */
  frames: AsyncIterable<Uint8Array> | undefined
}

/** What lies between two times of a recording, as far as it goes; undefined: the store has none, or it is not one of ours. */
export async function cutRecording(
  objects: ObjectStore,
  key: string,
  { startMs, endMs }: { startMs: number; endMs: number },
  signal: AbortSignal,
): Promise<RecordingCut | undefined> {
  const head = await objects.get(key, signal, { start: 0, end: WAV_HEAD_BYTES })
  if (head === undefined) return undefined
  const bytes: Uint8Array[] = []
  for await (const part of head.body) bytes.push(part)
  const sampleRateHz = sampleRateOf(Buffer.concat(bytes))
  if (sampleRateHz === undefined) return undefined
  const placeOf = (ms: number) =>
    Math.min(head.size, WAV_HEAD_BYTES + Math.round((ms * sampleRateHz) / 1000) * BYTES_PER_FRAME)
  const [start, end] = [placeOf(startMs), placeOf(endMs)]
  const part = start >= end ? undefined : await objects.get(key, signal, { start, end })
  return { sampleRateHz, dataBytes: Math.max(0, end - start), frames: part?.body }
}
