import { definePlugin } from '../../runtime/plugin/contract.ts'
import { EmbeddedVectors } from './embedded-vectors.ts'

const DEFAULT_CACHE_BYTES = 256 * 1024 * 1024

/** Retrieval without any service: see README.md for what it costs and where it ends. */
export default definePlugin({
  vectorstore: (host, { shelf, embedding, settings }) => {
    const { cacheBytes } = settings
    const bytes = typeof cacheBytes === 'number' ? cacheBytes : DEFAULT_CACHE_BYTES
    return new EmbeddedVectors(shelf, bytes, embedding, (err) => {
      host.log.error({ err }, 'The search threads ended; the next search starts others and reads its index again')
    })
  },
})
