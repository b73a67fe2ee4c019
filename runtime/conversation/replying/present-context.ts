import type { llm } from '@livekit/agents'

/**
 * The context of an answer, with what was said since the library copied it: while tools ran, or of the speech that the caller cut off
 * with what they said. Calls and results stay at the end.
 */
export function presentContext(context: llm.ChatContext, present: llm.ChatContext): llm.ChatContext {
  const known = new Set(context.items.map(({ id }) => id))
  const newer = present.items.filter((item) => item.type === 'message' && !known.has(item.id))
  if (newer.length === 0) return context
  const merged = context.copy()
  if (context.items.at(-1)?.type !== 'function_call_output') {
    // What the agent said came before the turn that it answers now.
    for (const item of newer) if (item.type === 'message' && item.role === 'assistant') merged.insert(item)
    return merged
  }
  const { items } = merged
  const isOfTool = (item: llm.ChatItem | undefined) =>
    item?.type === 'function_call' || item?.type === 'function_call_output'
  let at = items.length
  while (isOfTool(items[at - 1])) at--
  items.splice(at, 0, ...newer)
  return merged
}
