import { test } from 'tap'
import { endpointOf } from '../../../../plugins/openai/endpoint.ts'
import type { PluginHost } from '../../../../runtime/plugin/contract.ts'

const hostOf = (env: Record<string, string>) => ({ env: { get: (name: string) => env[name] } }) as unknown as PluginHost

test('OpenAI’s regional hosts are OpenAI, and no other server is', async (t) => {
  for (const [base, isOpenAI] of [
    [undefined, true],
    ['https://api.openai.com/v1/', true],
    ['https://eu.api.openai.com/v1', true],
    ['https://api.openai.com.example.com/v1', false],
    ['https://notapi.openai.com/v1', false],
    ['http://127.0.0.1:8000/v1', false],
  ] as const) {
    const endpoint = endpointOf(hostOf(base === undefined ? {} : { OPENAI_BASE_URL: base }))
    t.equal(endpoint.isOpenAI, isOpenAI, base ?? 'without a setting')
  }
})
