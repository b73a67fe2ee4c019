import { llm } from '@livekit/agents'
import t from 'tap'
import { z } from 'zod'
import { collect, errorsOf, inTime, ONE_ATTEMPT, withInstance } from '../../../conformance/support.ts'
import { registryWith } from '../../../support/providers/doubles/registry.ts'
import { startDoubles } from '../../../support/providers/doubles/start.ts'

const { doubles, env, stop } = await startDoubles()
t.teardown(stop)
const registry = await registryWith(t, env)

const weather = llm.tool({
  name: 'weather',
  description: 'The weather in a city',
  parameters: z.object({ city: z.string() }),
  execute: async () => 'sunny',
})

t.test('a tool call whose arguments come in pieces is put together', async (t) => {
  await withInstance(
    () => registry.create('llm', 'openai', { temperature: 0.2 }),
    async (model) => {
      const errors = errorsOf(model)
      const chatCtx = llm.ChatContext.empty()
      chatCtx.addMessage({ role: 'user', content: 'Use the tool for Paris.' })
      const chunks = await collect(model.chat({ chatCtx, toolCtx: [weather], connOptions: ONE_ATTEMPT }))
      t.same(errors, [])
      const calls = chunks.flatMap(({ delta }) => delta?.toolCalls ?? [])
      t.equal(calls.length, 1)
      t.match(calls[0], { name: 'weather', args: '{"city":"Paris"}' })
      t.ok(chunks.some(({ usage }) => usage !== undefined))
    },
  )
})

t.test('another attempt is made only while nothing was heard of the answer', async (t) => {
  const ask = async (after: number) => {
    const seen = doubles.openai.requests.length
    doubles.openai.faults.set({ kind: 'disconnect', after }, 1)
    let text = ''
    await withInstance(
      () => registry.create('llm', 'openai'),
      async (model) => {
        model.on('error', () => {})
        const chatCtx = llm.ChatContext.empty()
        chatCtx.addMessage({ role: 'system', content: 'The shop is at 12 Pier Street.' })
        chatCtx.addMessage({ role: 'user', content: 'Where is the shop?' })
        const connOptions = { maxRetry: 1, retryIntervalMs: 10, timeoutMs: 30_000 }
        const chunks = await inTime(collect(model.chat({ chatCtx, connOptions })), 60_000, 'the answer')
        text = chunks.map(({ delta }) => delta?.content ?? '').join('')
      },
    )
    const asked = doubles.openai.requests.slice(seen).filter((route) => route === 'POST /v1/chat/completions').length
    return { text, asked }
  }
  const early = await ask(0)
  t.equal(early.asked, 2)
  t.match(early.text, /12 Pier Street/)
  const late = await ask(4)
  t.equal(late.asked, 1)
  t.notMatch(late.text, /Street/)
})

t.test('the key and the base URL are the operator’s, and no other address is reached', async (t) => {
  const granted = await registryWith(t, { OPENAI_API_KEY: 'sk-x' })
  t.equal(granted.missingKey('openai'), undefined)
  t.match((await registryWith(t, {})).missingKey('openai'), /^OpenAI can't be used: OPENAI_API_KEY is not set/)
  const failure = await (await registryWith(t, {})).create('llm', 'openai').catch((error: unknown) => error)
  t.match(failure, { code: 'plugin', message: /OPENAI_API_KEY is not set/ })
  t.ok(granted.catalogue.llm.get('openai')?.models?.includes('gpt-4.1'), 'OpenAI’s models are a closed list')
  t.equal(registry.catalogue.llm.get('openai')?.models, undefined, 'another server may have any')
})
