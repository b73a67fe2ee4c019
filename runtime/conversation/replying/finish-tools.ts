import type { SessionPort } from '../../call/link/linked-conversation.ts'
import type { ToolCall } from '../../call/log/resume.ts'

/** Whether nothing came of the call yet. */
export const isOpen = (call: ToolCall | undefined): boolean =>
  call !== undefined && call.result === undefined && call.error === undefined

/**
 * Calls of tools that another worker made, with what came of them; undefined where all of it is known already. One that runs
 * still is asked for by its name: it is not made again.
 */
export async function finishTools(
  tools: readonly ToolCall[],
  port: SessionPort,
  signal: AbortSignal,
): Promise<ToolCall[] | undefined> {
  if (!tools.some(isOpen)) return undefined
  return Promise.all(tools.map((tool) => (isOpen(tool) ? finish(tool, port, signal) : tool)))
}

async function finish(tool: ToolCall, port: SessionPort, signal: AbortSignal): Promise<ToolCall> {
  const { id, name, arguments: given } = tool
  try {
    const { output } = await port.ask('tool', { id, name, arguments: given }, signal)
    return { ...tool, result: output }
  } catch (error) {
    return { ...tool, error: error instanceof Error ? error.message : String(error) }
  }
}
