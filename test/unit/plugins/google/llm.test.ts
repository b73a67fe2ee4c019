import { llm } from '@livekit/agents'
import t, { type Test } from 'tap'
import { z } from 'zod'
import { collect, errorsOf, ONE_ATTEMPT, withInstance } from '../../../conformance/support.ts'
import { registryWith } from '../../../support/providers/doubles/registry.ts'
import { startDoubles } from '../../../support/providers/doubles/start.ts'

const { env, stop } = await startDoubles()
t.teardown(stop)
const registry = await registryWith(t, env)

const weather = llm.tool({
  name: 'weather',
  description: 'The weather in a city',
  parameters: z.object({ city: z.string() }),
  execute: async () => 'sunny',
})

/** What the model makes of a conversation; fails the test where the API refuses it. */
async function ask(t: Test, chatCtx: llm.ChatContext, toolCtx?: llm.ToolContextLike) {
  let chunks: llm.ChatChunk[] = []
  await withInstance(
    () => registry.create('llm', 'google'),
    async (model) => {
      const errors = errorsOf(model)
      chunks = await collect(model.chat({ chatCtx, ...(toolCtx && { toolCtx }), connOptions: ONE_ATTEMPT }))
      t.same(errors, [])
    },
  )
  return {
    text: chunks.map(({ delta }) => delta?.content ?? '').join(''),
    calls: chunks.flatMap(({ delta }) => delta?.toolCalls ?? []),
  }
}

t.test('a tool is called with arguments that came in pieces, and its answer is used', async (t) => {
  const chatCtx = llm.ChatContext.empty()
  chatCtx.addMessage({ role: 'system', content: 'You are brief.' })
  chatCtx.addMessage({ role: 'assistant', content: 'Good morning!' })
  chatCtx.addMessage({ role: 'user', content: 'Use the tool for Paris.' })
  const { calls } = await ask(t, chatCtx, [weather])
  t.equal(calls.length, 1)
  const [call] = calls
  t.match(call, { name: 'weather', args: '{"city":"Paris"}' })
  chatCtx.items.push(call as llm.FunctionCall)
  chatCtx.addMessage({ role: 'user', content: 'Are you still there?' })
  const callId = call?.callId ?? ''
  chatCtx.items.push(llm.FunctionCallOutput.create({ callId, name: 'weather', output: 'sunny', isError: false }))
  t.match((await ask(t, chatCtx, [weather])).text, 'The tool said: sunny', 'though the caller spoke in between')
  const { text } = await ask(t, chatCtx)
  t.not(text, '', 'it is answered, too, where the agent has no tools any more')
})

t.test('whatever a call can lead to is taken', async (t) => {
  const greeting = llm.ChatContext.empty()
  greeting.addMessage({ role: 'assistant', content: 'Good morning!' })
  t.ok((await ask(t, greeting)).text, 'nobody but the agent has spoken')

  const broken = llm.ChatContext.empty()
  broken.addMessage({ role: 'user', content: 'Hello' })
  broken.items.push(llm.FunctionCall.create({ callId: 'call:1', name: 'weather', args: '{"city":' }))
  broken.addMessage({ role: 'user', content: '   ' })
  t.ok((await ask(t, broken, [weather])).text, 'a call without an answer, and blanks')

  const foreign = llm.ChatContext.empty()
  foreign.addMessage({ role: 'user', content: 'Hello' })
  foreign.items.push(llm.FunctionCall.create({ callId: 'call:1', name: 'weather', args: 'oops' }))
  foreign.items.push(
    llm.FunctionCallOutput.create({ callId: 'call:1', name: 'weather', output: 'rain', isError: false }),
  )
  t.match((await ask(t, foreign, [weather])).text, 'rain', 'an id of another provider’s')
})
