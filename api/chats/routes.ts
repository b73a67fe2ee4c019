import { uuidv7 } from 'uuidv7'
import { PatchbayError } from '../../runtime/lib/errors.ts'
import { agentById } from '../../store/agents/agents.ts'
import { chatWithMessages, listChats } from '../../store/agents/chats.ts'
import { CursorPage, cursorPageOf, instantIn, orderIn, partOf, placeIn, placeOf } from '../cursor.ts'
import { isUuid } from '../ids.ts'
import { requireServed } from '../quota.ts'
import { defineRoute, Reply } from '../route.ts'
import { eventStream } from './event-stream.ts'
import { interact } from './interaction.ts'
import {
  ChatBody,
  ChatItem,
  ChatLogsQuery,
  chatBody,
  chatExample,
  chatItem,
  costBody,
  InteractionBody,
  InteractionInput,
  interactionExample,
  sourceBody,
  usageBody,
} from './schema.ts'

const tag = 'Chats'

const interaction = defineRoute({
  method: 'POST',
  path: '/chats/interaction',
  auth: 'jwt_or_key',
  role: 'member',
  audit: false,
  body: InteractionInput,
  success: {
    status: 200,
    schema: InteractionBody,
    events:
      'With `stream: true`: `delta` events with `text`, then `sources` with `sources`, then `done` with `chat_id`, ' +
      '`session_id`, `agent_id`, `present_agent_id`, `response`, `usage` and `cost`; an `error` event with `detail` when it breaks off.',
  },
  errors: [
    'agent_text_too_long',
    'agent_not_found',
    'provider_fault',
    'plugin',
    'quota_reached',
    'unavailable',
    'timeout',
  ],
  tag,
  summary: 'Send a text message to an agent and get its answer',
  description:
    'Uses the agent’s system prompt and knowledge base, as its calls do. Messages of one session are answered one after ' +
    'the other, in the order they came. Closing the connection cancels the answer.',
  examples: {
    body: {
      agent_id: interactionExample.agent_id,
      session_id: interactionExample.session_id,
      message: 'How long can I return an item?',
    },
    success: interactionExample,
  },
  handler: async ({ body, tenant, signal, log }, services) => {
    const agent = isUuid(body.agent_id) ? await agentById(tenant, body.agent_id) : undefined
    if (agent === undefined) throw new PatchbayError('agent_not_found')
    const sessionId = body.session_id ?? uuidv7()
    const dynamicVariables = body.dynamic_variables ?? {}
    const facts = { callId: sessionId, channel: 'chat', contact: sessionId, variables: dynamicVariables } as const
    const served = await requireServed(services, tenant, agent, facts)
    const events = interact(
      services,
      tenant,
      { agent: served, sessionId, message: body.message, dynamicVariables },
      { signal, log },
    )
    const ids = { session_id: sessionId, agent_id: agent.id }
    if (body.stream) {
      return new Reply({
        stream: eventStream(await events.next(), events, ids, { signal, log }),
        headers: [
          ['content-type', 'text/event-stream; charset=utf-8'],
          ['cache-control', 'no-store'],
          // Proxies that gather answers would hold the words back.
          ['x-accel-buffering', 'no'],
        ],
      })
    }
    for await (const event of events) {
      if (event.type !== 'done') continue
      const { chatId, presentAgentId, response, sources, usage, costUsd } = event
      return {
        chat_id: chatId,
        ...ids,
        present_agent_id: presentAgentId,
        response,
        sources: sources.map(sourceBody),
        usage: usageBody(usage),
        cost: costBody(costUsd),
      }
    }
    throw new PatchbayError('internal', { cause: new Error('An interaction ended without an answer') })
  },
})

const logs = defineRoute({
  method: 'GET',
  path: '/chats/logs',
  auth: 'jwt_or_key',
  role: 'member',
  query: ChatLogsQuery,
  success: { status: 200, schema: CursorPage(ChatItem) },
  tag,
  summary: 'The chats of the workspace, newest first',
  examples: { success: { items: [chatExample], total: 1, page: 1, page_size: 25, total_pages: 1 } },
  handler: async ({ query, tenant }) => {
    // Something that is no id names no agent, so no chat is of it.
    if (query.agent_id !== undefined && !isUuid(query.agent_id)) return cursorPageOf([], 0, query, undefined)
    const { chats, total } = await listChats(
      tenant,
      {
        ...{ agentId: query.agent_id, sessionId: query.session_id, updatedSince: instantIn(query.updated_since) },
        words: query.q?.trim() || undefined,
      },
      partOf(query, placeIn(query)),
      orderIn(query),
    )
    const last = chats.at(-1)
    return cursorPageOf(chats.map(chatItem), total, query, last && placeOf(query, last))
  },
})

const read = defineRoute({
  method: 'GET',
  path: '/chats/{chat_id}',
  auth: 'jwt_or_key',
  role: 'member',
  params: { chat_id: { description: 'The chat.', notFound: 'chat_not_found', example: chatExample.chat_id } },
  success: { status: 200, schema: ChatBody },
  errors: ['chat_not_found'],
  tag,
  summary: 'One chat with everything said in it',
  examples: {
    success: {
      ...chatExample,
      messages: [
        { role: 'user', content: 'How long can I return an item?', created_at: chatExample.created_at },
        { role: 'assistant', content: chatExample.last_message, created_at: chatExample.updated_at },
      ],
      usage: interactionExample.usage,
      cost: interactionExample.cost,
    },
  },
  handler: async ({ params, tenant }) => {
    const chat = await chatWithMessages(tenant, params.chat_id)
    if (chat === undefined) throw new PatchbayError('chat_not_found')
    return chatBody(chat)
  },
})

export const chatRoutes = [interaction, logs, read]
