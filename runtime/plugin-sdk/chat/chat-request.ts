import { llm } from '@livekit/agents'
import type { ChatRequest, Message, Tool } from '../../../packages/plugin/mod.ts'

export type { ChatRequest, LlmEvent, Message, Tool } from '../../../packages/plugin/mod.ts'

/** A conversation in the shape plugins read: what was said, what was called, and which tools there are. */
export function chatRequestOf(
  chatCtx: llm.ChatContext,
  toolCtx: llm.ToolContextLike | undefined,
  temperature: number | undefined,
): ChatRequest {
  return {
    messages: messagesOf(chatCtx),
    tools: pluginTools(toolCtx),
    ...(temperature === undefined ? {} : { temperature }),
  }
}

function messagesOf(context: llm.ChatContext): Message[] {
  return context.items.flatMap((item): Message[] => {
    if (item.type === 'function_call') {
      return [{ role: 'tool_call', id: item.callId, name: item.name, arguments: item.args }]
    }
    if (item.type === 'function_call_output') {
      return [{ role: 'tool_result', id: item.callId, name: item.name, content: item.output }]
    }
    if (item.type !== 'message') return []
    const content = item.textContent ?? ''
    return [{ role: item.role === 'developer' ? 'system' : item.role, content }]
  })
}

/** The tools of a session, as plugins are given them. */
export function pluginTools(toolCtx: llm.ToolContextLike | undefined): Tool[] {
  if (toolCtx === undefined) return []
  return llm.sortedToolEntries(llm.toToolContext(toolCtx)).flatMap(([name, tool]) => {
    if (!llm.isFunctionTool(tool)) return []
    const parameters = llm.toJsonSchema(tool.parameters) as Readonly<Record<string, unknown>>
    // OpenAI refuses a schema without them, as MCP servers have it for tools that take nothing.
    return [{ name, description: tool.description, parameters: { type: 'object', properties: {}, ...parameters } }]
  })
}
