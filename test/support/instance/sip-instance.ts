import { freePort } from '../sip/sip-peers.ts'
import { ApiClient } from './api.ts'
import { type Instance, startInstance } from './instance.ts'
import type { Teardown } from './services.ts'

/** A Patchbay as an operator starts it, that takes SIP calls on a port of its own, with somebody who is logged in. */
export interface SipInstance {
  readonly instance: Instance
  readonly client: ApiClient
  readonly sipPort: number
}

/** What has an instance take SIP calls on this machine. */
export async function sipSettings(): Promise<{ sipPort: number; env: Record<string, string> }> {
  const sipPort = await freePort()
  const firstRtp = 20_000 + Math.floor(Math.random() * 5_000) * 2
  const env = {
    PATCHBAY_SIP_PORT: String(sipPort),
    PATCHBAY_SIP_HOST: '127.0.0.1',
    PATCHBAY_RTP_PORTS: `${firstRtp}-${firstRtp + 99}`,
  }
  return { sipPort, env }
}

export async function startSipInstance(
  t: Teardown,
  env: Record<string, string> = {},
  nodeOptions: readonly string[] = [],
): Promise<SipInstance> {
  const { sipPort, env: sip } = await sipSettings()
  const instance = await startInstance(t, { ...sip, ...env }, nodeOptions)
  const client = new ApiClient(instance.url)
  const user = { email: 'ada@example.com', password: 'correct horse' }
  await client.post('/auth/signup', { body: { ...user, name: 'Ada', phone_number: '+14155550123' } })
  await client.post('/auth/login', { body: user })
  return { instance, client, sipPort }
}
