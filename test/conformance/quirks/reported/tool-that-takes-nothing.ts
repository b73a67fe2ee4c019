import { llm } from '@livekit/agents'
import { pluginTools } from '../../../../runtime/plugin-sdk/chat/chat-request.ts'
import type { ProtocolQuirk } from '../support/quirk.ts'

export default {
  kind: 'protocol',
  title: 'the schema of a tool that takes nothing has properties, as OpenAI demands and MCP servers do not',
  report: 'openai/openai-agents-python#449, unclecode/crawl4ai#2207',
  async run(t) {
    const parameters = {
      $schema: 'http://json-schema.org/draft-07/schema#',
      type: 'object',
      title: 'EmptyObject',
    } as const
    const hello = llm.tool({ name: 'say_hello', description: 'Says hello', parameters, execute: async () => 'hello' })
    t.same(pluginTools([hello]), [
      { name: 'say_hello', description: 'Says hello', parameters: { ...parameters, properties: {} } },
    ])
  },
} satisfies ProtocolQuirk
