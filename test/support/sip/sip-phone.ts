import type { TestApi, TestUser } from '../instance/api.ts'
import { startTestApi, type TestApiOptions } from '../instance/api.ts'
import type { Teardown } from '../instance/services.ts'
import { freePort } from './sip-peers.ts'

/** An api node that takes SIP calls on a port of its own, with a user. */
export interface SipApi {
  readonly api: TestApi
  readonly user: TestUser
  readonly sipPort: number
}

export async function startSipApi(t: Teardown, options: TestApiOptions = {}): Promise<SipApi> {
  const sipPort = await freePort()
  const rtpPort = 20_000 + Math.floor(Math.random() * 5_000) * 2
  const api = await startTestApi(t, {
    ...options,
    env: {
      PATCHBAY_SIP_PORT: String(sipPort),
      PATCHBAY_SIP_HOST: '127.0.0.1',
      PATCHBAY_RTP_PORTS: `${rtpPort}-${rtpPort + 199}`,
      PATCHBAY_ALLOW_NET: 'sip:127.0.0.1',
      ...options.env,
    },
  })
  return { api, user: await api.signUp(), sipPort }
}

let numbers = 0

/** An agent with a SIP number, and the trunk it names. */
export async function addSipNumber(
  { user }: SipApi,
  trunk?: Record<string, unknown>,
): Promise<{ number: string; agentId: string }> {
  const { body: agent } = await user.client.post('/agents', {
    body: { agent_name: 'Ada', system_prompt: 'You are Ada.', first_message: 'Hello, this is Ada.' },
  })
  const number = `+1415555${String(2000 + numbers++)}`
  if (trunk !== undefined) {
    const made = await user.client.post('/trunks', {
      body: { name: 'peer', allowed_addresses: ['127.0.0.1'], countries: ['US'], ...trunk },
    })
    if (made.status !== 201) throw new Error(JSON.stringify(made.body))
  }
  const { status, body } = await user.client.post('/phone-numbers', {
    body: {
      phone_number: number,
      provider: 'sip',
      agent_id: agent.agent_id,
      ...(trunk === undefined ? {} : { trunk: trunk.name ?? 'peer' }),
    },
  })
  if (status !== 201) throw new Error(JSON.stringify(body))
  return { number, agentId: agent.agent_id }
}
