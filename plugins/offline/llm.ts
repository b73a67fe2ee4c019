import { randomUUID } from 'node:crypto'
import { estimateTokens, readChatText } from '../../runtime/plugin-sdk/chat/chat-text.ts'
import { EventLLM } from '../../runtime/plugin-sdk/chat/event-llm.ts'
import { reply } from './reply.ts'

/**
 * A language model without any model: it answers with sentences of its instructions and of retrieved passages,
 * and calls the tools that the caller's words speak of.
 *
 * @param language the agent's language tag; otherwise it is detected from each question
 */
export function offlineLlm(language?: string): EventLLM {
  return new EventLLM({
    provider: 'offline',
    identity: { title: 'The offline model' },
    model: 'extractive',
    temperature: undefined,
    async *chat({ messages, tools }) {
      const { text = '', call } = reply({ messages, tools, language, nowMs: Date.now() })
      for (const word of text.trim().match(/\s*\S+/g) ?? []) yield { type: 'text', text: word }
      if (call !== undefined) {
        yield { type: 'tool_call', id: randomUUID(), name: call.name, arguments: JSON.stringify(call.arguments) }
      }
      const { sources, turns } = readChatText(messages)
      const inputTokens = estimateTokens([...sources, ...turns.map((turn) => turn.text)])
      yield { type: 'usage', inputTokens, outputTokens: estimateTokens([text]) }
    },
  })
}
