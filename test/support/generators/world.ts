import type { Test } from 'tap'
import { startTestApi } from '../instance/api.ts'
import type { Teardown } from '../instance/services.ts'

const SCOPES = ['read', 'calls', 'agents', 'batches', 'numbers', 'campaigns', 'webhooks'] as const

/** What a client needs, and whether what it made is there. */
export async function clientWorld(t: Teardown) {
  const api = await startTestApi(t)
  const ada = await api.signUp()
  const client = await api.keyClient(ada, SCOPES)
  return {
    url: api.url,
    key: client.headers['x-api-key'] ?? '',
    /** Compares what a program printed with what there is. */
    async madeAsSaid(t: Test, printed: unknown): Promise<void> {
      const said = printed as Record<'agent' | 'number' | 'call' | 'campaign' | 'upload' | 'webhook', string>
      t.match(said, { crm: 'c-7', calls: 1, logs: 1 })
      const there = async (path: string) => (await client.get(path)).status
      t.equal(await there(`/agents/${said.agent}`), 200)
      t.equal(await there(`/phone-numbers/${encodeURIComponent(said.number)}`), 200)
      t.match((await client.get(`/calls/${said.call}`)).body, { dynamic_variables: { crm_id: 'c-7' } })
      t.match((await client.get(`/api/v/campaign/${said.campaign}/`)).body, { name: 'March', active: false })
      t.equal(await there(`/api/v/upload/${said.upload}/`), 200)
      t.match((await client.get(`/webhooks/${said.webhook}`)).body, { types: ['call.ended'] })
    },
  }
}
