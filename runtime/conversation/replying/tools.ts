import { llm, voice } from '@livekit/agents'
import type { SessionPort } from '../../call/link/linked-conversation.ts'
import type { ToolSpec } from '../../call/types/agent-spec.ts'
import { cleanJson, parseCleanJson } from '../../lib/text.ts'
import { passagesNote } from './knowledge.ts'

const PASSAGES = 4

export interface ToolHooks {
  /** A name for a call of a tool that no other in this call has. */
  nextId(): string
  /** The agent wants to end the call, once what it is saying is said. */
  hangUp(speech: voice.SpeechHandle): void
}

/** The agent's tools as the session wants them. All but hanging up are done by the api node. */
export function makeTools(
  specs: readonly ToolSpec[],
  port: SessionPort,
  hooks: ToolHooks,
  signal: AbortSignal,
): llm.FunctionTool[] {
  return specs.map(({ name, description, parameters, kind }) =>
    llm.tool({
      name,
      description,
      parameters: parameters as Parameters<typeof llm.tool>[0]['parameters'] & object,
      execute: async (input: unknown, { ctx }: { ctx: voice.RunContext }) => {
        const given = cleanJson((typeof input === 'object' && input !== null ? input : {}) as Record<string, unknown>)
        if (kind === 'hang_up') {
          hooks.hangUp(ctx.speechHandle)
          throw new voice.StopResponse()
        }
        if (kind === 'knowledge') {
          const query = String(given.query ?? '')
          const { passages } = await port.ask('knowledge', { query, topK: PASSAGES }, signal)
          return passages.length === 0 ? 'Nothing was found.' : passagesNote(passages)
        }
        const { output } = await port.ask('tool', { id: hooks.nextId(), name, arguments: given }, signal)
        return readable(output)
      },
    }),
  )
}

/** JSON as it is: the library writes what it gets as JSON, and text within text is hard to read. */
function readable(output: string): unknown {
  if (!/^\s*[[{]/.test(output)) return output
  try {
    return parseCleanJson(output)
  } catch {
    return output
  }
}
