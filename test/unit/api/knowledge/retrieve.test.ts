import t from 'tap'
import { retrieve } from '../../../../api/knowledge/retrieve.ts'
import type { VectorScope, VectorStore } from '../../../../runtime/plugin/contract.ts'
import { openStore } from '../../../../store/database/database.ts'
import { testDatabase } from '../../../support/instance/services.ts'

t.test(
  'searches of a workspace that asks for hundreds hold up nobody else’s, and those that are too many are told',
  async (t) => {
    const store = openStore({ databaseUrl: await testDatabase(t), maxConnections: 2 })
    t.teardown(() => store.close())
    const abort = new AbortController()
    const searched: string[] = []
    const vectors: Pick<VectorStore, 'search'> = {
      search({ workspaceId }: VectorScope, _query, signal) {
        searched.push(workspaceId)
        if (workspaceId === 'quiet') return Promise.resolve([])
        return new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)))
      },
    }
    const services = { store, vectors: vectors as VectorStore, embeddings: undefined }
    const ask = (workspaceId: string, signal: AbortSignal) =>
      retrieve(services, { workspaceId, agentId: 'agent', agentVersion: null }, 'the code word', 5, signal)
    const hostile = Promise.allSettled(Array.from({ length: 400 }, () => ask('hostile', abort.signal)))
    t.same(await ask('quiet', new AbortController().signal), [])
    t.ok(searched.filter((workspaceId) => workspaceId === 'hostile').length < 64)
    abort.abort(new Error('gone'))
    const codes = new Set(
      (await hostile).map((one) => one.status === 'rejected' && (one.reason.code ?? one.reason.message)),
    )
    t.same([...codes].sort(), ['gone', 'unavailable'])
  },
)
