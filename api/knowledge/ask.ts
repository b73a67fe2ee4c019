import { Type } from 'typebox'
import { Compile } from 'typebox/compile'
import { PatchbayError } from '../../runtime/errors.ts'
import type { Embeddings } from '../../runtime/knowledge/embeddings.ts'
import type { LinkHubOptions } from '../../runtime/link/api-end.ts'
import type { AskMethod, AskMethods } from '../../runtime/link/messages.ts'
import type { VectorStore } from '../../runtime/plugin/contract.ts'
import type { Store } from '../../store/database.ts'
import { agentOfCall } from '../../store/documents.ts'
import type { ToolCalls } from '../tools/tool-calls.ts'
import { retrieve } from './retrieve.ts'

/** A worker gives up sooner; this is for the queries it no longer waits for. */
const TIMEOUT_MS = 3_000

const TOOL_TIMEOUT_MS = 18_000

const ToolParams = Compile(Type.Object({ name: Type.String(), arguments: Type.Record(Type.String(), Type.Unknown()) }))
const KnowledgeParams = Compile(Type.Object({ query: Type.String(), topK: Type.Integer({ minimum: 1, maximum: 20 }) }))

/** Answers what voice workers ask, for the agent of the call whatever the worker says: passages, and calls of tools. */
export function answerAsks(services: {
  store: Store
  vectors: VectorStore
  embeddings: Embeddings | undefined
  tools: ToolCalls
}): LinkHubOptions['answer'] {
  return async (method, params, callId): Promise<AskMethods[AskMethod]['result']> => {
    if (method === 'tool') {
      if (!ToolParams.Check(params)) throw new PatchbayError('validation')
      const signal = AbortSignal.timeout(TOOL_TIMEOUT_MS)
      return { output: await services.tools.ofCall(callId, params.name, params.arguments, signal) }
    }
    if (!KnowledgeParams.Check(params)) throw new PatchbayError('validation')
    const scope = await agentOfCall(services.store, callId)
    if (scope === undefined) return { passages: [] }
    const signal = AbortSignal.timeout(TIMEOUT_MS)
    const passages = await retrieve(services, scope, params.query, params.topK, signal)
    return { passages: passages.map(({ chunk: _, ...passage }) => passage) }
  }
}
