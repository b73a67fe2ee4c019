import { llm } from '@livekit/agents'
import { test } from 'tap'
import { findFailure } from '../../../../runtime/plugin-sdk/provider-error.ts'
import { collect, errorsOf, ONE_ATTEMPT } from '../../../conformance/support.ts'
import { startChatServers } from '../../../support/providers/ai-sdk/chat-servers.ts'
import { npmPackages } from '../../../support/providers/npm-packages.ts'
import { foreign } from '../../../unit/runtime/plugin/isolated/support.ts'

const LIMIT_MS = 60_000

/** What an author writes for each: five lines. */
const PLUGINS: Record<string, string> = {
  mistral: `import { createMistral } from '@ai-sdk/mistral'
import { fromAiSdk } from '@patchbay/plugin/ai-sdk'
export default fromAiSdk((host, { model = 'mistral-small-latest' }) =>
  createMistral({ apiKey: host.env.get('KEY'), baseURL: host.env.get('URL') + '/v1' })(model))
`,
  groq: `import { createGroq } from '@ai-sdk/groq'
import { fromAiSdk } from '@patchbay/plugin/ai-sdk'
export default fromAiSdk((host, { model = 'llama-3.3-70b-versatile' }) =>
  createGroq({ apiKey: host.env.get('KEY'), baseURL: host.env.get('URL') + '/v1' })(model))
`,
  cohere: `import { createCohere } from '@ai-sdk/cohere'
import { fromAiSdk } from '@patchbay/plugin/ai-sdk'
export default fromAiSdk((host, { model = 'command-a-03-2025' }) =>
  createCohere({ apiKey: host.env.get('KEY'), baseURL: host.env.get('URL') + '/v2' })(model))
`,
  anthropic: `import { createAnthropic } from '@ai-sdk/anthropic'
import { fromAiSdk } from '@patchbay/plugin/ai-sdk'
export default fromAiSdk((host, { model = 'claude-haiku-4-5' }) =>
  createAnthropic({ apiKey: host.env.get('KEY'), baseURL: host.env.get('URL') + '/v1' })(model))
`,
  'openai-compatible': `import { createOpenAICompatible } from '@ai-sdk/openai-compatible'
import { fromAiSdk } from '@patchbay/plugin/ai-sdk'
export default fromAiSdk((host, { model = 'm' }) =>
  createOpenAICompatible({ name: 'acme', apiKey: host.env.get('KEY'), baseURL: host.env.get('URL') + '/v1' })(model))
`,
}

const LOOK_UP = llm.tool({
  name: 'look_up',
  description: 'Looks an order up.',
  parameters: { type: 'object', properties: { id: { type: 'string' } }, required: ['id'] } as never,
  execute: async () => undefined,
})

for (const [provider, mod] of Object.entries(PLUGINS)) {
  test(`@ai-sdk/${provider} answers, calls tools, counts tokens and fails in words, in the sandbox`, async (t) => {
    const { url, requests } = await startChatServers(t)
    const packages = await npmPackages('ai-sdk')
    const of = async (key: string) =>
      foreign(t, {
        plugin: { mod, permissions: { env: ['KEY', 'URL'] }, packages },
        env: { KEY: key, URL: url },
        settings: { grant: { env: ['KEY', 'URL'], net: [new URL(url).host] } },
      })
    const { registry, logged } = await of('k-1')
    const ask = async (tools: llm.ToolContextLike, more?: llm.ChatItem[]) => {
      const model = await registry.create('llm', 'probe')
      const errors = errorsOf(model)
      const chatCtx = llm.ChatContext.empty()
      chatCtx.addMessage({ role: 'system', content: 'Be kind.' })
      chatCtx.addMessage({ role: 'user', content: 'Look up order 7.' })
      chatCtx.items.push(...(more ?? []))
      const chunks = await collect(model.chat({ chatCtx, toolCtx: tools, connOptions: ONE_ATTEMPT }), LIMIT_MS)
      t.same(
        errors.map(({ error }) => error.message),
        [],
      )
      return chunks
    }
    const said = await ask([])
    t.equal(said.map(({ delta }) => delta?.content ?? '').join(''), 'Hello you.')
    t.match(said.find(({ usage }) => usage !== undefined)?.usage, { promptTokens: 11, completionTokens: 3 })
    t.match(requests.at(-1), { key: 'k-1' })
    const [call] = (await ask([LOOK_UP])).flatMap(({ delta }) => delta?.toolCalls ?? [])
    t.match(call, { name: 'look_up', args: '{"id":"7"}' })
    const result = llm.FunctionCallOutput.create({
      callId: call?.callId ?? '',
      name: 'look_up',
      output: 'shipped',
      isError: false,
    })
    const after = await ask([LOOK_UP], call === undefined ? [] : [call, result])
    t.equal(after.map(({ delta }) => delta?.content ?? '').join(''), 'Hello you.')
    t.match(JSON.stringify(requests.at(-1)?.body.messages), /call00001/, 'the call and its result were sent')
    t.same(
      logged.filter((line) => /requires|did not handle/.test(line)),
      [],
    )

    const refused = await (await of('bad')).registry.create('llm', 'probe')
    const errors = errorsOf(refused)
    const chatCtx = llm.ChatContext.empty()
    chatCtx.addMessage({ role: 'user', content: 'Hello.' })
    await collect(refused.chat({ chatCtx, connOptions: ONE_ATTEMPT }), LIMIT_MS)
    t.match(findFailure(errors[0]?.error), { fault: 'authentication', status: 401, retryable: false })
  })
}

test('a package that the plugin does not bring can’t be had', async (t) => {
  const mod = `import { definePlugin } from '@patchbay/plugin'\nimport 'npm:left-pad'\nexport default definePlugin({ llm: () => ({}) })\n`
  const { registry } = await foreign(t, { plugin: { mod, packages: await npmPackages('ai-sdk') } })
  await t.rejects(registry.create('llm', 'probe'), { message: /can't be run/ })
})
