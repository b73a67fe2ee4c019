import { WAV_HEAD_BYTES } from '../../../runtime/recording/wav.ts'
import { waitUntil } from '../world/wait-until.ts'
import type { OpenCall } from './page-call.ts'

/** Root mean square of 100 ms of what is a voice, of 32,768. */
const VOICE = 300
const WINDOWS_A_SECOND = 10

/** The stored recording of a web call: for how long somebody speaks on each side of it, in seconds. */
export async function spokenSides({ rest, callLogId }: OpenCall): Promise<{ caller: number; agent: number }> {
  const path = `/calls/${callLogId}`
  await waitUntil(async () => (await rest.send<{ recording_url: unknown }>('GET', path)).recording_url !== null)
  const { key } = await rest.send<{ key: string }>('POST', '/api-keys', { name: 'Recording', scopes: ['read'] })
  const response = await fetch(new URL(`${path}/recording`, rest.url), { headers: { 'x-api-key': key } })
  const wav = Buffer.from(await response.arrayBuffer())
  if (!response.ok || wav.readUInt16LE(22) !== 2) throw new Error(`No stereo recording: ${response.status}`)
  const window = wav.readUInt32LE(24) / WINDOWS_A_SECOND
  const windows = Math.floor((wav.length - WAV_HEAD_BYTES) / 4 / window)
  const spoken = (offset: number) => {
    let loud = 0
    for (let at = 0; at < windows; at++) {
      let sum = 0
      for (let i = 0; i < window; i++) sum += wav.readInt16LE(WAV_HEAD_BYTES + 4 * (at * window + i) + offset) ** 2
      if (Math.sqrt(sum / window) > VOICE) loud++
    }
    return loud / WINDOWS_A_SECOND
  }
  return { caller: spoken(0), agent: spoken(2) }
}
