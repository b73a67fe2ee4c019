import { type Static, Type } from 'typebox'
import { roundUsd } from '../../runtime/call/cost.ts'
import { DynamicVariables } from '../../runtime/conversation/variables.ts'
import type { Chat, ChatMessage } from '../../store/database/schema.ts'
import { CursorQuery, SortQuery, UpdatedSince } from '../cursor.ts'
import type { Passage } from '../knowledge/retrieve.ts'
import { Id, Instant, Nullable } from '../schema.ts'
import type { ChatModelUsage } from './model.ts'

export const InteractionInput = Type.Object({
  agent_id: Type.String({ maxLength: 100 }),
  message: Type.String({ minLength: 1, maxLength: 20_000, pattern: '\\S' }),
  session_id: Type.Optional(
    Type.String({ minLength: 1, maxLength: 200, description: 'Goes on with a session; a new one when left out.' }),
  ),
  dynamic_variables: Type.Optional(
    DynamicVariables({ description: 'Fill `{{name}}` in the system prompt, for the rest of the session.' }),
  ),
  stream: Type.Optional(Type.Boolean({ default: false, description: 'Answer as server-sent events.' })),
})

const SourceBody = Type.Object({
  document_id: Id,
  filename: Type.String(),
  text: Type.String(),
  score: Type.Number(),
})

const ChatUsage = Type.Object({
  llm_input_tokens: Type.Integer(),
  llm_output_tokens: Type.Integer(),
  total_tokens: Type.Integer(),
})

const Usd = Nullable(Type.Number({ description: 'US dollars; null when a price is not known.' }))

const ChatCost = Type.Object({ cost_llm: Usd, total_cost: Usd })

export const InteractionBody = Type.Object({
  chat_id: Id,
  session_id: Type.String(),
  agent_id: Id,
  present_agent_id: Type.String({
    format: 'uuid',
    description: 'The agent that has the chat now: another than `agent_id` once that has handed it off.',
  }),
  response: Type.String(),
  sources: Type.Array(SourceBody),
  usage: ChatUsage,
  cost: ChatCost,
})

const chatFields = {
  chat_id: Id,
  agent_id: Id,
  agent_version: Nullable(Type.Integer({ description: 'The version of the agent that answered last.' })),
  present_agent_id: Nullable(Type.String({ format: 'uuid', description: 'The agent that the chat was handed to.' })),
  session_id: Type.String(),
  message_count: Type.Integer(),
  last_message: Type.String(),
  created_at: Instant,
  updated_at: Instant,
}

export const ChatItem = Type.Object(chatFields)

export const ChatBody = Type.Object({
  ...chatFields,
  messages: Type.Array(
    Type.Object({ role: Type.Enum(['user', 'assistant']), content: Type.String(), created_at: Instant }),
  ),
  usage: ChatUsage,
  cost: ChatCost,
})

export const ChatLogsQuery = Type.Object({
  ...CursorQuery,
  ...SortQuery(['updated_at', 'message_count']),
  updated_since: UpdatedSince,
  agent_id: Type.Optional(Type.String({ maxLength: 100, description: 'Only chats with this agent.' })),
  session_id: Type.Optional(Type.String({ maxLength: 200, description: 'Only the chats of this session.' })),
  q: Type.Optional(
    Type.String({
      maxLength: 200,
      description:
        'Words of one message of the chat: all of them, the last one as it begins; "in quotes" in this order, `-word` not.',
    }),
  ),
})

export const interactionExample = {
  chat_id: '0197f3a2-7c1e-7000-8000-000000000020',
  session_id: 'visitor-42',
  agent_id: '0197f3a2-7c1e-7000-8000-000000000003',
  present_agent_id: '0197f3a2-7c1e-7000-8000-000000000003',
  response: 'You can return any item within 30 days of delivery.',
  sources: [
    {
      document_id: '0197f3a2-7c1e-7000-8000-000000000010',
      filename: 'returns.md',
      text: 'Returns > Deadline:\nYou can return any item within 30 days of delivery.',
      score: 2.31,
    },
  ],
  usage: { llm_input_tokens: 214, llm_output_tokens: 12, total_tokens: 226 },
  cost: { cost_llm: 0, total_cost: 0 },
}

export const chatExample = {
  chat_id: interactionExample.chat_id,
  agent_id: interactionExample.agent_id,
  agent_version: 3,
  present_agent_id: null,
  session_id: interactionExample.session_id,
  message_count: 2,
  last_message: interactionExample.response,
  created_at: '2026-01-31T09:00:00.000Z',
  updated_at: '2026-01-31T09:00:02.000Z',
}

/** A chat as lists show it. */
export function chatItem(chat: Chat): Static<typeof ChatItem> {
  return {
    chat_id: chat.id,
    agent_id: chat.agent_id,
    agent_version: chat.agent_version,
    present_agent_id: chat.present_agent_id,
    session_id: chat.session_id,
    message_count: chat.message_count,
    last_message: chat.last_message,
    created_at: chat.created_at.toISOString(),
    updated_at: chat.updated_at.toISOString(),
  }
}

/** A chat with all that was said. */
export function chatBody(chat: Chat & { messages: ChatMessage[] }): Static<typeof ChatBody> {
  const messages = chat.messages.map(({ role, content, created_at }) => ({
    role,
    content,
    created_at: created_at.toISOString(),
  }))
  const sum = (pick: (message: ChatMessage) => number) => chat.messages.reduce((total, one) => total + pick(one), 0)
  const inputTokens = sum((message) => message.llm_input_tokens)
  const outputTokens = sum((message) => message.llm_output_tokens)
  const known = chat.messages.every(({ cost_llm }) => cost_llm !== null)
  const cost = costBody(known ? sum(({ cost_llm }) => cost_llm ?? 0) : null)
  return { ...chatItem(chat), messages, usage: usageBody({ inputTokens, outputTokens }), cost }
}

export function sourceBody({ documentId, filename, text, score }: Passage): Static<typeof SourceBody> {
  return { document_id: documentId, filename, text, score }
}

export function usageBody({ inputTokens, outputTokens }: ChatModelUsage): Static<typeof ChatUsage> {
  return {
    llm_input_tokens: inputTokens,
    llm_output_tokens: outputTokens,
    total_tokens: inputTokens + outputTokens,
  }
}

export function costBody(usd: number | null): Static<typeof ChatCost> {
  const rounded = usd === null ? null : roundUsd(usd)
  return { cost_llm: rounded, total_cost: rounded }
}
