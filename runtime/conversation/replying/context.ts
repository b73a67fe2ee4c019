import { llm } from '@livekit/agents'
import type { Resume, ToolCall } from '../../call/log/resume.ts'

/** What was said and done before, as the language model reads it: turns, tool calls with their results, and notes. */
export function contextOf(
  resume: Pick<Resume, 'turns' | 'tools' | 'notes'> | undefined,
  nowMs: number,
): llm.ChatContext {
  const context = llm.ChatContext.empty()
  if (resume === undefined) return context
  const { turns, tools, notes } = resume
  // Items are kept in order of creation: the past lies before everything that is said from now on.
  let createdAt = nowMs - turns.length - 2 * tools.length - notes.length - 1
  const called = (index: number): void => {
    for (const tool of tools) if (tool.turn === index) addCall(context, tool, createdAt++, createdAt++)
    for (const { text, turn } of notes) {
      if (turn === index) context.addMessage({ role: 'system', content: text, createdAt: createdAt++ })
    }
  }
  for (const [index, turn] of turns.entries()) {
    called(index)
    context.addMessage({ role: turn.role, content: turn.text, interrupted: turn.interrupted, createdAt: createdAt++ })
  }
  called(turns.length)
  return context
}

/** A call of a tool, with what came of it. */
function addCall(context: llm.ChatContext, tool: ToolCall, calledAt: number, returnedAt: number): void {
  const { id, name, result, error } = tool
  const output = result ?? error
  if (output === undefined) return
  const call = llm.FunctionCall.create({ callId: id, name, args: JSON.stringify(tool.arguments), createdAt: calledAt })
  const isError = error !== undefined
  const returned = llm.FunctionCallOutput.create({ callId: id, name, output, isError, createdAt: returnedAt })
  context.insert([call, returned])
}
