import { WAV_HEAD_BYTES } from '../../../runtime/recording/wav.ts'
import type { ApiClient } from '../instance/api.ts'
import { waitUntil } from '../world/wait-until.ts'

/** Both sides of the stored recording of a telephone call: 16-bit samples at 8 kHz, which began with the answer. */
export interface Sides {
  readonly caller: Int16Array
  readonly agent: Int16Array
  readonly durationMs: number
}

/** Waits until the recording is stored. */
export async function recordingOf(client: ApiClient, callId: string): Promise<Sides> {
  await waitUntil(async () => (await client.get(`/calls/${callId}`)).body.recording_url !== null)
  const { headers } = await client.get(`/calls/${callId}/recording`)
  const response = await fetch((headers.get('location') ?? '').replace('localhost', '127.0.0.1'))
  const wav = Buffer.from(await response.arrayBuffer())
  if (wav.readUInt16LE(22) !== 2 || wav.readUInt32LE(24) !== 8_000)
    throw new Error('The recording is not stereo, 8 kHz')
  const frames = Math.floor((wav.length - WAV_HEAD_BYTES) / 4)
  const side = (offset: number) =>
    Int16Array.from({ length: frames }, (_, i) => wav.readInt16LE(WAV_HEAD_BYTES + 4 * i + offset))
  return { caller: side(0), agent: side(2), durationMs: frames / 8 }
}
