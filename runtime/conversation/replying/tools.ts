import { llm, voice } from '@livekit/agents'
import type { SessionPort } from '../../call/link/linked-conversation.ts'
import type { ToolSpec } from '../../call/types/agent-spec.ts'
import type { CollectItem } from '../../call/types/collect-item.ts'
import { HANDED_OFF_OUTPUT } from '../../call/types/hand-off.ts'
import { cleanJson, parseCleanJson } from '../../lib/text.ts'
import { TRANSFER_OUTPUT } from '../../tools/transfer-output.ts'
import { collectToolSpec } from '../collecting/collect-tool-spec.ts'
import type { Phrases } from '../languages/phrases.ts'
import { passagesNote } from './knowledge.ts'
import type { ToolResults } from './tool-results.ts'

const PASSAGES = 4

interface ToolHooks {
  /** A name for a call of a tool that no other in this call has. */
  nextId(): string
  /** The agent wants to end the call, once what it is saying is said. */
  hangUp(speech: voice.SpeechHandle): void
  /** A value of the caller's is to be collected. */
  collect(id: string, name: string): void
  /** The caller is being led to another person, or is back. */
  transferring(on: boolean): void
  /** The model began a procedure. True: it has fixed steps, and the model waits for them. */
  procedureBegun(id: string, name: string): boolean
  /** What was said until now is logged: the next agent takes it up. */
  settle(): void
  /** Keeps what the call of a tool comes to, for answers that are made before the session has it. */
  keep: ToolResults['keep']
  /** What the agent says by itself, in the language of the moment. */
  phrases(): Pick<Phrases, 'transferring' | 'transferFailed'>
}

/** The tools by which an agent has values collected: each ends the answer, and is answered when the value is there. */
export function makeCollectTools(
  items: readonly CollectItem[],
  hooks: Pick<ToolHooks, 'nextId' | 'collect'>,
): llm.FunctionTool[] {
  return items.map((item) =>
    llm.tool({
      ...collectToolSpec(item),
      execute: async (_input: unknown) => {
        hooks.collect(hooks.nextId(), item.name)
        throw new voice.StopResponse()
      },
    }),
  )
}

/** The agent's tools as the session wants them. All but hanging up are done by the api node. */
export function makeTools(
  specs: readonly ToolSpec[],
  port: SessionPort,
  hooks: ToolHooks,
  signal: AbortSignal,
): llm.FunctionTool[] {
  return specs.map((spec) => {
    const { name, description, parameters, kind } = spec
    const run = toolOf(spec, port, hooks, signal)
    // What the others return ends or moves the call: nobody waits for it.
    const isAwaited = kind === 'http' || kind === 'mcp' || kind === 'knowledge'
    return llm.tool({
      name,
      description,
      parameters: parameters as Parameters<typeof llm.tool>[0]['parameters'] & object,
      execute: (input: unknown, { ctx }: { ctx: voice.RunContext }) =>
        isAwaited ? hooks.keep(ctx, run(input, ctx)) : run(input, ctx),
    })
  })
}

function toolOf({ name, kind, says = '' }: ToolSpec, port: SessionPort, hooks: ToolHooks, signal: AbortSignal) {
  return async (input: unknown, ctx: voice.RunContext): Promise<unknown> => {
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
    const { transferring, transferFailed } = hooks.phrases()
    if (kind === 'transfer') await announce(ctx, transferring)
    const id = hooks.nextId()
    const ask = () => port.ask('tool', { id, name, arguments: given }, signal)
    if (kind === 'procedure') {
      const { output } = await ask()
      if (!hooks.procedureBegun(id, String(given.name))) return output
      throw new voice.StopResponse()
    }
    if (kind === 'handoff') {
      const { output } = await ask()
      if (output !== HANDED_OFF_OUTPUT) return output
      await announce(ctx, says)
      hooks.settle()
      // Where the link is lost meanwhile, the api node hands the call off by itself.
      await port.ask('hand_off', { id }, signal).catch(() => undefined)
      throw new voice.StopResponse()
    }
    if (kind !== 'transfer') return readable((await ask()).output)
    hooks.transferring(true)
    const { output } = await ask().finally(() => hooks.transferring(false))
    if (output !== TRANSFER_OUTPUT && transferFailed !== '')
      return `${output} Say to the caller: ${JSON.stringify(transferFailed)}`
    return readable(output)
  }
}

/** Nobody is put through without a word: what the model said before is heard to its end, and where it said nothing, the agent does. */
async function announce(ctx: voice.RunContext, words: string): Promise<void> {
  await ctx.waitForPlayout()
  const { chatItems, interrupted } = ctx.speechHandle
  const spoke = chatItems.some((item) => item.type === 'message' && (item.textContent ?? '').trim() !== '')
  if (spoke || interrupted || words === '') return
  await ctx.session.say(words, { allowInterruptions: false }).waitForPlayout()
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
