import { freePort } from '../../../scripts/demo/free-port.ts'
import { type Instance, startInstance } from './instance.ts'
import { until } from './realtime-node.ts'
import type { Teardown } from './services.ts'

const LIMIT_MS = 150_000

/** An instance whose web calls may use WebRTC, by this media worker. Its calls' sound goes over UDP and TCP port `mediaPort`. */
export async function startWebRtcInstance(
  t: Teardown,
  worker: string,
  env: Record<string, string> = {},
): Promise<Instance & { mediaPort: number }> {
  const mediaPort = await freePort()
  const settings = { PATCHBAY_WEBRTC: 'auto', PATCHBAY_WEBRTC_PORT: `${mediaPort}`, PATCHBAY_WEBRTC_WORKER: worker }
  const instance = await startInstance(t, { ...settings, ...env })
  await until(() => instance.output().includes('Web calls use WebRTC'), instance.output, LIMIT_MS)
  return { ...instance, mediaPort }
}
