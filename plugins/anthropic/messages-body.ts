import type { ChatRequest } from '../../runtime/plugin-sdk/chat/chat-request.ts'
import { chatTurns, type TurnPart } from '../../runtime/plugin-sdk/chat/chat-turns.ts'

export interface ModelChoice {
  model: string
  maxTokens: number
  /** Of models that think by default; undefined: as little as they can. */
  effort: string | undefined
}

/** Models that take a temperature; newer ones refuse it, and think unless thinking is disabled. */
const TAKES_TEMPERATURE = /^claude-(3|instant|2|haiku-4|sonnet-4|opus-4(-[0-6])?(-\d{8})?$)/
/** How each model is told not to think before it speaks. Of the others nothing more than a low effort is possible. */
const THINKING: readonly (readonly [models: RegExp, thinking: string | undefined])[] = [
  [/^claude-sonnet-5-5/, 'between_tools'],
  [/^claude-(opus-5-5|fable|mythos)/, undefined],
  [/^claude-(haiku|sonnet|opus)-[5-9]/, 'disabled'],
  [/^claude-opus-4-[78]/, 'disabled'],
]

/** The body of a request to /v1/messages: docs.claude.com/en/api/messages. */
export function messagesBody(request: ChatRequest, { model, maxTokens, effort }: ModelChoice): object {
  const { system, turns } = chatTurns(request)
  const { tools, temperature } = request
  const thinking = THINKING.find(([models]) => models.test(model))?.[1]
  const isOlder = TAKES_TEMPERATURE.test(model)
  return {
    model,
    max_tokens: maxTokens,
    stream: true,
    ...(system === '' ? {} : { system }),
    messages: turns.map(({ role, parts }) => ({ role, content: parts.map(block) })),
    ...(tools.length === 0
      ? {}
      : {
          tools: tools.map(({ name, description, parameters }) => ({ name, description, input_schema: parameters })),
        }),
    ...(isOlder && temperature !== undefined ? { temperature: Math.min(1, temperature) } : {}),
    ...(!isOlder && model.startsWith('claude-') ? { output_config: { effort: effort ?? 'low' } } : {}),
    // An effort that the operator chose is meant: the model thinks as it is used to.
    ...(thinking === undefined || effort !== undefined ? {} : { thinking: { type: thinking } }),
    // What comes before the last block is read from the cache by the next request of the call.
    ...(model.startsWith('claude-') ? { cache_control: { type: 'ephemeral' } } : {}),
  }
}

function block(part: TurnPart): object {
  switch (part.type) {
    case 'text':
      return { type: 'text', text: part.text }
    case 'call':
      return { type: 'tool_use', id: idOf(part.id), name: part.name, input: part.input }
    case 'result':
      return { type: 'tool_result', tool_use_id: idOf(part.id), content: part.text }
  }
}

/** Calls that another provider made may have ids that are refused here. */
function idOf(id: string): string {
  return id.replace(/[^\w-]/g, '_')
}
