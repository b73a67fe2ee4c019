import type { ChatRequest, Message } from './chat-request.ts'

export type TurnPart =
  | { type: 'text'; text: string }
  /** `input` is what its JSON holds; `{}` where it holds no object. */
  | { type: 'call'; id: string; name: string; input: Readonly<Record<string, unknown>> }
  | { type: 'result'; id: string; name: string; text: string }

interface ChatTurn {
  role: 'user' | 'assistant'
  parts: TurnPart[]
}

/** In place of an empty result, which some protocols refuse. */
const NO_OUTPUT = '(nothing)'
/** A placeholder user turn, for protocols that require one before the assistant's. */
const NOTHING_SAID = '(The caller has not said anything.)'

/**
 * A conversation for models whose turns alternate, begin with the user and end with the user: instructions apart, turns of one
 * side put together, and every tool call answered at once in the turn behind it. Calls without an answer are left out; where
 * there are no tools any more, their results are sent as text.
 */
export function chatTurns({ messages, tools }: ChatRequest): { system: string; turns: ChatTurn[] } {
  const system = messages.flatMap((message) => (message.role === 'system' ? [message.content] : [])).join('\n\n')
  const results = new Map(
    messages.flatMap((message) => (message.role === 'tool_result' ? [[message.id, message] as const] : [])),
  )
  const turns: ChatTurn[] = []
  const add = (role: ChatTurn['role'], part: TurnPart): void => {
    const last = turns.at(-1)
    if (last?.role === role) last.parts.push(part)
    else turns.push({ role, parts: [part] })
  }
  for (let at = 0; at < messages.length; at++) {
    const message = messages[at] as Message
    if (message.role === 'user' || message.role === 'assistant') {
      if (message.content.trim() !== '') add(message.role, { type: 'text', text: message.content })
      continue
    }
    if (message.role !== 'tool_call') continue
    const calls = [message]
    for (let next = messages[at + 1]; next?.role === 'tool_call'; next = messages[++at + 1]) calls.push(next)
    const answered = calls.flatMap((call) => {
      const result = results.get(call.id)
      return result === undefined ? [] : [{ call, result }]
    })
    if (tools.length === 0) {
      for (const { call, result } of answered) {
        add('user', { type: 'text', text: `(The tool ${call.name} answered: ${result.content})` })
      }
      continue
    }
    for (const { call } of answered) {
      add('assistant', { type: 'call', id: call.id, name: call.name, input: inputOf(call.arguments) })
    }
    for (const { call, result } of answered) {
      add('user', { type: 'result', id: call.id, name: call.name, text: result.content.trim() || NO_OUTPUT })
    }
  }
  if (turns[0]?.role !== 'user') turns.unshift({ role: 'user', parts: [{ type: 'text', text: NOTHING_SAID }] })
  if (turns.at(-1)?.role !== 'user') turns.push({ role: 'user', parts: [{ type: 'text', text: NOTHING_SAID }] })
  return { system, turns }
}

function inputOf(text: string): Readonly<Record<string, unknown>> {
  try {
    const input: unknown = JSON.parse(text)
    return typeof input === 'object' && input !== null && !Array.isArray(input)
      ? (input as Record<string, unknown>)
      : {}
  } catch {
    return {}
  }
}
