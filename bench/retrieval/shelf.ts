import type { ShelfRow, VectorBlobStore } from '../../runtime/plugin/contract.ts'

/** A shelf in memory, for the engine alone to be measured: the database adds one indexed read to each search. */
export function memoryShelf(): VectorBlobStore {
  const rows: (ShelfRow & { bytes: Uint8Array })[] = []
  return {
    async put(_scope, documentId, _firstChunk, bytes) {
      rows.push({ id: rows.length, documentId, byteLength: bytes.length, bytes })
    },
    version: async () => rows.length,
    list: async () => rows,
    read: async (_scope, ids) => ids.map((id) => ({ id, bytes: rows[id]!.bytes })),
    remove: async () => {},
  }
}
