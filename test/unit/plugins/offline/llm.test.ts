import { llm } from '@livekit/agents'
import t from 'tap'
import plugin from '../../../../plugins/offline/mod.ts'
import { runOnlyHost } from '../../../support/instance/plugin-host.ts'

t.test('an answer streams word by word and ends with the usage', async (t) => {
  const model = await plugin.llm?.(runOnlyHost('offline'), { settings: {} })
  const chatCtx = llm.ChatContext.empty()
  chatCtx.addMessage({ role: 'system', content: 'You are a helpful agent. We are open from nine to five.' })
  chatCtx.addMessage({ role: 'system', content: 'The shop is at 12 Pier Street.' })
  chatCtx.addMessage({ role: 'user', content: 'Where is the shop?' })
  const chunks: llm.ChatChunk[] = []
  for await (const chunk of model?.chat({ chatCtx }) ?? []) chunks.push(chunk)
  t.equal(chunks.map((chunk) => chunk.delta?.content ?? '').join(''), 'The shop is at 12 Pier Street.')
  t.equal(chunks.filter((chunk) => chunk.delta).length, 7)
  t.match(chunks.at(-1)?.usage, { completionTokens: 10, promptTokens: 31, totalTokens: 41 })
})
