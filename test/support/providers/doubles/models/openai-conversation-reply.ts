import { answer } from '../../../../../plugins/offline/answer.ts'
import type { Item, Session } from './openai-conversation-rules.ts'

/** What the double of a conversation answers, and what it says that cost. */
export interface ScriptLine {
  question: string
  answer: string
  tool?: { name: string; arguments: Record<string, unknown> }
}

export const textOf = ({ content = [] }: Item): string =>
  content.map(({ text, transcript }) => text ?? transcript ?? '').join(' ')

export interface Called {
  tool: string
  arguments: string
}

/** A model that knows Paris alone. */
function argumentsFor({ parameters }: NonNullable<Session['tools']>[number]): object {
  const names = Object.keys(parameters?.properties ?? {})
  return Object.fromEntries(names.map((name) => [name, 'Paris']))
}

/** What a script has for the last question. */
function scripted(items: readonly Item[], script: readonly ScriptLine[]): string | Called | undefined {
  const at = items.findLastIndex(({ role }) => role === 'user')
  const line = script.find(({ question }) => question === (items[at] && textOf(items[at])))
  if (line === undefined) return undefined
  const output = items.slice(at).findLast(({ type }) => type === 'function_call_output')
  if (line.tool === undefined || output !== undefined) return line.answer.replace('{output}', output?.output ?? '')
  return { tool: line.tool.name, arguments: JSON.stringify(line.tool.arguments) }
}

/** What the model makes of its input. */
export function replyTo(
  instructions: string,
  items: readonly Item[],
  tools: Session['tools'],
  script: readonly ScriptLine[] = [],
): string | Called {
  const last = items.at(-1)
  if (/word for word/.test(instructions)) return last === undefined ? '' : textOf(last)
  const line = scripted(items, script)
  if (line !== undefined) return line
  if (last?.type === 'function_call_output') return `The tool said: ${last.output}`
  const [tool] = tools ?? []
  if (last?.role === 'user' && /use the tool/i.test(textOf(last)) && tool) {
    return { tool: tool.name, arguments: JSON.stringify(argumentsFor(tool)) }
  }
  const turns = items.flatMap((item) =>
    item.role === 'user' || item.role === 'assistant' ? [{ role: item.role, text: textOf(item) } as const] : [],
  )
  const systems = items.filter(({ role }) => role === 'system').map(textOf)
  return answer({ sources: [instructions, ...systems], turns })
}

/** By the length of texts and sound. */
export function usageOf(items: readonly Item[], output: Item): object {
  const text_tokens = items.reduce((sum, item) => sum + Math.ceil(textOf(item).length / 4), 1)
  const audio_tokens = items.reduce((sum, { audioMs = 0 }) => sum + Math.ceil(audioMs / 50), 0)
  const spoken = Math.ceil((output.audioMs ?? 0) / 50)
  const written = Math.ceil(textOf(output).length / 4) + 1
  const input_tokens = text_tokens + audio_tokens
  return {
    total_tokens: input_tokens + spoken + written,
    input_tokens,
    output_tokens: spoken + written,
    input_token_details: {
      text_tokens,
      audio_tokens,
      image_tokens: 0,
      cached_tokens: 0,
      cached_tokens_details: { text_tokens: 0, audio_tokens: 0, image_tokens: 0 },
    },
    output_token_details: { text_tokens: written, audio_tokens: spoken },
  }
}
