import type { llm } from '@livekit/agents'

/** Times the past is halved for a model that can't take it all. */
export const MAX_SHORTENINGS = 6

/**
 * The conversation without what is left out, and without its oldest turns: half of what is left for each shortening. The
 * instructions stay, and so does the last turn; a tool call goes with its result.
 */
export function fitContext(context: llm.ChatContext, leftOut: ReadonlySet<string>, times: number): llm.ChatContext {
  const copy = context.copy()
  copy.items = copy.items.filter(({ id }) => !leftOut.has(id))
  const { items } = copy
  const begins = items.findIndex((item) => item.type !== 'message' || !isInstruction(item.role))
  const turns = begins === -1 ? [] : items.slice(begins)
  const lastTurn = turns.findLastIndex((item) => item.type === 'message' && item.role === 'user')
  const kept = Math.max(1, Math.ceil(turns.length / 2 ** times))
  let from = Math.min(turns.length - kept, lastTurn === -1 ? turns.length - kept : lastTurn)
  // The past begins with what somebody said, never with half of a tool's call.
  while (times > 0 && from < turns.length && from < lastTurn && turns[from]?.type !== 'message') from++
  if (from > 0) {
    const rest = turns.slice(from)
    const called = new Set(rest.flatMap((item) => (item.type === 'function_call' ? [item.callId] : [])))
    const whole = rest.filter((item) => item.type !== 'function_call_output' || called.has(item.callId))
    copy.items = [...items.slice(0, begins), ...whole]
  }
  return copy
}

function isInstruction(role: llm.ChatRole): boolean {
  return role === 'system' || role === 'developer'
}
