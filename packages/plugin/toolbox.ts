import type { Tool } from './mod.ts'

/** A call of a tool, as a language model made it. */
export interface ToolCall {
  readonly name: string
  /** The arguments: they fit the tool's `parameters`. */
  readonly input: Readonly<Record<string, unknown>>
  /** Whose agent calls it. */
  readonly workspaceId: string
  /** The same for a call that is made twice, such as after a lost connection. */
  readonly key?: string
}

/** Tools that agents find at the plugin, made once for the process. */
export interface Toolbox {
  /** At most 128 of them are used. Asked for again about once a minute. */
  list(signal: AbortSignal): Promise<readonly Tool[]>
  /** What came of a call, for a language model to read: text, or what is then written as JSON. What it throws, the model reads as a failure. */
  call(call: ToolCall, signal: AbortSignal): Promise<unknown>
}
