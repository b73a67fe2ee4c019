import type { Message } from './chat-request.ts'

/** Tokens a word counts for where nothing is tokenised. */
const TOKENS_PER_WORD = 4 / 3

/** What a language model reads of a chat. */
interface ChatText {
  /** System messages: the agent's prompt, then the passages found for the question. */
  sources: string[]
  turns: { role: 'user' | 'assistant'; text: string }[]
}

export function readChatText(messages: readonly Message[]): ChatText {
  const sources: string[] = []
  const turns: ChatText['turns'] = []
  for (const { role, ...said } of messages) {
    if (!('content' in said) || role === 'tool_result') continue
    if (role === 'user' || role === 'assistant') turns.push({ role, text: said.content })
    else sources.push(said.content)
  }
  return { sources, turns }
}

/** An estimate by words; a script without spaces counts a token a character. */
export function estimateTokens(texts: readonly string[]): number {
  let tokens = 0
  for (const text of texts) {
    const dense = text.match(/[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}]/gu)?.length ?? 0
    tokens += dense + (text.match(/\S+/g)?.length ?? 0) * TOKENS_PER_WORD
  }
  return Math.ceil(tokens)
}
