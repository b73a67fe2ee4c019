import { estimateTokens, readChatText } from '../../runtime/plugin-sdk/chat/chat-text.ts'
import { EventLLM } from '../../runtime/plugin-sdk/chat/event-llm.ts'
import { answer } from './answer.ts'

/**
 * A language model without any model: it answers with sentences of its instructions and of retrieved passages.
 *
 * @param language the agent's language tag; otherwise it is detected from each question
 */
export function offlineLlm(language?: string): EventLLM {
  return new EventLLM({
    provider: 'offline',
    identity: { title: 'The offline model' },
    model: 'extractive',
    temperature: undefined,
    async *chat({ messages }) {
      const { sources, turns } = readChatText(messages)
      const text = answer({ sources, turns, language })
      for (const word of text.trim().match(/\s*\S+/g) ?? []) yield { type: 'text', text: word }
      const inputTokens = estimateTokens([...sources, ...turns.map((turn) => turn.text)])
      yield { type: 'usage', inputTokens, outputTokens: estimateTokens([text]) }
    },
  })
}
