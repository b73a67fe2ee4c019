import type { llm } from '@livekit/agents'

/**
 * The context of an answer after tools, with what was said while they ran: the library answers from the copy it made before they
 * were called. Calls and results stay at the end.
 */
export function presentContext(context: llm.ChatContext, present: llm.ChatContext): llm.ChatContext {
  if (context.items.at(-1)?.type !== 'function_call_output') return context
  const known = new Set(context.items.map(({ id }) => id))
  const newer = present.items.filter((item) => item.type === 'message' && !known.has(item.id))
  if (newer.length === 0) return context
  const merged = context.copy()
  const { items } = merged
  const isOfTool = (item: llm.ChatItem | undefined) =>
    item?.type === 'function_call' || item?.type === 'function_call_output'
  let at = items.length
  while (isOfTool(items[at - 1])) at--
  items.splice(at, 0, ...newer)
  return merged
}
