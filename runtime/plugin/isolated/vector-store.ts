import type {
  VectorPoint as PlainPoint,
  Terms as PlainTerms,
  VectorMatch,
} from '../../../packages/plugin/vector-store.ts'
import type { Terms, VectorPoint, VectorStore } from '../contract.ts'
import type { FaultOf } from './fault.ts'
import type { VectorAct } from './messages.ts'

/** Points that go over the pipe at once: a frame has its bounds. */
const AT_ONCE = 32

/** A vector store in a plugin's process. `act` carries out one call there. */
export function isolatedVectors(
  act: (act: VectorAct, signal: AbortSignal) => Promise<unknown>,
  faultOf: FaultOf,
): VectorStore {
  return {
    async upsert(scope, documentId, points, signal) {
      for (let from = 0; from < points.length; from += AT_ONCE) {
        const some = points.slice(from, from + AT_ONCE).map(plainPoint)
        await act({ name: 'upsert', args: [scope, documentId, some] }, signal)
      }
    },
    async search(scope, { terms, dense, limit, documents }, signal) {
      const query = {
        ...{ terms: plainTerms(terms), limit },
        ...(dense === undefined ? {} : { dense: Array.from(dense) }),
        ...(documents === undefined ? {} : { documents }),
      }
      const found = await act({ name: 'search', args: [scope, query] }, signal)
      if (!Array.isArray(found) || !found.every(isMatch)) throw faultOf(new Error('it gave no list of matches'))
      return found.slice(0, limit)
    },
    async remove(scope, documentId, signal) {
      await act({ name: 'remove', args: [scope, documentId] }, signal)
    },
    async removeAll(owner, signal) {
      await act({ name: 'removeAll', args: [owner] }, signal)
    },
  }
}

const plainTerms = ({ ids, counts }: Terms): PlainTerms => ({ ids: Array.from(ids), counts: Array.from(counts) })

function plainPoint({ chunk, terms, dense }: VectorPoint): PlainPoint {
  return { chunk, terms: plainTerms(terms), ...(dense === undefined ? {} : { dense: Array.from(dense) }) }
}

function isMatch(match: unknown): match is VectorMatch {
  const { documentId, chunk, score } = (match ?? {}) as Partial<VectorMatch>
  return typeof documentId === 'string' && Number.isInteger(chunk) && Number.isFinite(score)
}
