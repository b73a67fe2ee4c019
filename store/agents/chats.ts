import { type ExpressionBuilder, sql } from 'kysely'
import { uuidv7 } from 'uuidv7'
import { beyond, exactly, type ListOrder, type ListPart } from '../database/list-place.ts'
import { matchesWords } from '../database/matches-words.ts'
import type { AllTables, Chat, ChatMessage, ChatState } from '../database/schema.ts'
import type { Tenant } from '../database/tenant.ts'

/** The cost of a chat for the month's quota, kept even if the chat is deleted. */
export async function addChatSpending(tenant: Tenant, costUsd: number, at: Date): Promise<void> {
  const month = `${at.toISOString().slice(0, 7)}-01`
  await tenant.db
    .insertInto('chat_spending')
    .values({ month, cost_usd: costUsd })
    .onConflict((conflict) =>
      conflict
        .columns(['workspace_id', 'month'])
        .doUpdateSet((eb) => ({ cost_usd: eb('chat_spending.cost_usd', '+', costUsd) })),
    )
    .execute()
}

/** What the chats of a month (UTC) cost. */
export async function chatSpending(tenant: Tenant, at: Date): Promise<number> {
  const row = await tenant.db
    .selectFrom('chat_spending')
    .select('cost_usd')
    .where(sql<string>`month`, '=', `${at.toISOString().slice(0, 7)}-01`)
    .executeTakeFirst()
  return row?.cost_usd ?? 0
}

/** Text conversations: one chat for each session of an agent. */

interface ChatSession {
  chat: Chat | undefined
  /** The last ones, oldest first. */
  messages: Pick<ChatMessage, 'seq' | 'role' | 'content'>[]
}

/** What was said so far in a session, at most its last `limit` messages. */
export async function openSession(
  tenant: Tenant,
  agentId: string,
  sessionId: string,
  limit: number,
): Promise<ChatSession> {
  const chat = await tenant.db
    .selectFrom('chats')
    .selectAll()
    .where('agent_id', '=', agentId)
    .where('session_id', '=', sessionId)
    .executeTakeFirst()
  if (chat === undefined) return { chat, messages: [] }
  const messages = await tenant.db
    .selectFrom('chat_messages')
    .select(['seq', 'role', 'content'])
    .where('chat_id', '=', chat.id)
    .orderBy('seq', 'desc')
    .limit(limit)
    .execute()
  return { chat, messages: messages.reverse() }
}

interface ChatExchange {
  agentId: string
  /** Of the agent that answered. */
  agentVersion: number | null
  /** The agent that the chat was handed to; null: it is its own. */
  presentAgentId: string | null
  state: ChatState
  sessionId: string
  dynamicVariables: Readonly<Record<string, string>>
  /** See chats.collected. */
  collected: object
  question: { text: string; at: Date }
  answer: { text: string; at: Date; inputTokens: number; outputTokens: number; costUsd: number | null }
}

/**
 * Writes a message and its answer down and returns the chat's id. `chat` is what `openSession` found: a unique violation
 * says that another answer came in between.
 */
export function appendExchange(tenant: Tenant, chat: Chat | undefined, exchange: ChatExchange): Promise<string> {
  const { question, answer } = exchange
  const chatId = chat?.id ?? uuidv7()
  const count = chat?.message_count ?? 0
  const row = {
    message_count: count + 2,
    last_message: answer.text,
    agent_version: exchange.agentVersion,
    present_agent_id: exchange.presentAgentId,
    state: JSON.stringify(exchange.state),
    dynamic_variables: JSON.stringify(exchange.dynamicVariables),
    collected: JSON.stringify(exchange.collected),
    updated_at: answer.at,
  }
  return tenant.db.transaction().execute(async (db) => {
    if (chat === undefined) {
      const { agentId: agent_id, sessionId: session_id } = exchange
      await db
        .insertInto('chats')
        .values({ ...row, id: chatId, agent_id, session_id, created_at: question.at })
        .execute()
    } else {
      await db.updateTable('chats').set(row).where('id', '=', chatId).execute()
    }
    const message = { chat_id: chatId }
    await db
      .insertInto('chat_messages')
      .values([
        { ...message, seq: count, role: 'user', content: question.text, created_at: question.at, ...NO_TOKENS },
        {
          ...message,
          seq: count + 1,
          role: 'assistant',
          content: answer.text,
          created_at: answer.at,
          llm_input_tokens: answer.inputTokens,
          llm_output_tokens: answer.outputTokens,
          cost_llm: answer.costUsd,
        },
      ])
      .execute()
    return chatId
  })
}

const NO_TOKENS = { llm_input_tokens: 0, llm_output_tokens: 0, cost_llm: 0 }

interface ChatFilter {
  agentId?: string | undefined
  sessionId?: string | undefined
  updatedSince?: Date | undefined
  /** Written in one message. */
  words?: string | undefined
}

/** A page of the chats, newest first, with `updatedSince` in the order in which they changed, or as `order` says, and how many there are in all. */
export async function listChats(
  tenant: Tenant,
  filter: ChatFilter,
  page: ListPart,
  order?: ListOrder<'updated_at' | 'message_count'>,
): Promise<{ chats: (Chat & { sorted_by: string })[]; total: number }> {
  const { after, limit } = page
  const byChange = filter.updatedSince !== undefined
  let query = tenant.db
    .selectFrom('chats')
    .selectAll()
    .select(exactly('updated_at').as('sorted_by'))
    .where((eb) => matches(eb, filter))
    .limit(limit)
  if (after === undefined) query = query.offset(page.offset)
  else query = byChange ? query.where(beyond('updated_at', '>', after)) : query.where('id', '<', after.id)
  if (order !== undefined) query = query.orderBy(order.by, order.direction)
  const ordered = byChange ? query.orderBy('updated_at').orderBy('id') : query.orderBy('id', 'desc')
  const [chats, { total }] = await Promise.all([
    ordered.execute(),
    tenant.db
      .selectFrom('chats')
      .select((eb) => eb.fn.countAll<number>().as('total'))
      .where((eb) => matches(eb, filter))
      .executeTakeFirstOrThrow(),
  ])
  return { chats, total }
}

/** One chat with everything said in it; undefined when the workspace has no such chat. */
export async function chatWithMessages(
  tenant: Tenant,
  chatId: string,
): Promise<(Chat & { messages: ChatMessage[] }) | undefined> {
  const chat = await tenant.db.selectFrom('chats').selectAll().where('id', '=', chatId).executeTakeFirst()
  if (chat === undefined) return undefined
  const messages = await tenant.db
    .selectFrom('chat_messages')
    .selectAll()
    .where('chat_id', '=', chatId)
    .orderBy('seq')
    .execute()
  return { ...chat, messages }
}

function matches(eb: ExpressionBuilder<AllTables, 'chats'>, { agentId, sessionId, updatedSince, words }: ChatFilter) {
  return eb.and([
    agentId === undefined ? sql<boolean>`true` : eb('agent_id', '=', agentId),
    sessionId === undefined ? sql<boolean>`true` : eb('session_id', '=', sessionId),
    updatedSince === undefined ? sql<boolean>`true` : eb('updated_at', '>=', updatedSince),
    words === undefined
      ? sql<boolean>`true`
      : eb('id', 'in', (inner) =>
          inner.selectFrom('chat_messages').select('chat_id').where(matchesWords('content', words)),
        ),
  ])
}
