import { definePlugin } from '../../runtime/plugin/contract.ts'
import { EmbeddedVectors } from './store.ts'

const DEFAULT_CACHE_BYTES = 256 * 1024 * 1024

/** Retrieval without any service: see README.md for what it costs and where it ends. */
export default definePlugin({
  vectorstore: (_host, { shelf, embedding, settings }) => {
    const { cacheBytes } = settings
    return new EmbeddedVectors(shelf, typeof cacheBytes === 'number' ? cacheBytes : DEFAULT_CACHE_BYTES, embedding)
  },
})
