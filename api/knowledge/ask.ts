import type { AskAnswers } from '../../runtime/call/control/worker-requests.ts'
import type { Embeddings } from '../../runtime/knowledge/embeddings.ts'
import { signalWithin } from '../../runtime/lib/async/signal-within.ts'
import type { VectorStore } from '../../runtime/plugin/contract.ts'
import type { Store } from '../../store/database/database.ts'
import { workspaceOfCall } from '../../store/knowledge/documents.ts'
import type { ToolCalls } from '../tools/tool-calls.ts'
import { retrieve } from './retrieve.ts'

/** A worker gives up sooner; this is for the queries it no longer waits for. */
const TIMEOUT_MS = 3_000

const TOOL_TIMEOUT_MS = 18_000

/** Answers requests of voice workers for passages and tool calls, always for the call's own agent. */
export function answerAsks(services: {
  store: Store
  vectors: VectorStore
  embeddings: Embeddings | undefined
  tools: Pick<ToolCalls, 'ofCall'>
}): AskAnswers {
  return {
    async tool(of, { id, name, arguments: given }, key, values) {
      return services.tools.ofCall(of, name, given, { id, key, ...values }, signalWithin(TOOL_TIMEOUT_MS))
    },
    async knowledge({ callId, agentId, agentVersion = null }, { query, topK }) {
      const workspaceId = await workspaceOfCall(services.store, callId)
      if (workspaceId === undefined) return { passages: [] }
      const passages = await retrieve(
        services,
        { workspaceId, agentId, agentVersion },
        query,
        topK,
        signalWithin(TIMEOUT_MS),
      )
      return { passages: passages.map(({ chunk: _, ...passage }) => passage) }
    },
  }
}
