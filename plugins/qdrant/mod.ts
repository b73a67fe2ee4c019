import { definePlugin } from '../../runtime/plugin/contract.ts'
import { QdrantServer } from './server.ts'
import { QdrantStore } from './store.ts'

/** One collection of a Qdrant server: see README.md for its settings. */
export default definePlugin({
  vectorstore: (host, { embedding }) => new QdrantStore(new QdrantServer(host), embedding),
  check: (host, { signal }) => new QdrantServer(host).check(signal),
})
