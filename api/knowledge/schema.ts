import { type Static, Type } from 'typebox'
import type { Document } from '../../store/database/schema.ts'
import { Id, Instant, Nullable } from '../schema.ts'
import type { Passage } from './retrieve.ts'

export const DocumentBody = Type.Object({
  document_id: Id,
  filename: Type.String(),
  size: Type.Integer({ description: 'Bytes of the uploaded file.' }),
  status: Type.Enum(['processing', 'ready', 'failed']),
  chunks: Type.Integer({ description: 'Passages that retrieval can find; 0 until the document is ready.' }),
  error: Nullable(Type.String({ description: 'Why the file could not be read.' })),
  created_at: Instant,
  updated_at: Instant,
})

export const UploadBody = Type.Object({ documents: Type.Array(DocumentBody) })

export const QueryInput = Type.Object({
  query: Type.String({ minLength: 1, maxLength: 10_000, pattern: '\\S', description: 'What to look for.' }),
  top_k: Type.Integer({ minimum: 1, maximum: 20, default: 5, description: 'How many passages at most.' }),
  by: Type.Enum(['both', 'words', 'meaning'], {
    default: 'both',
    description:
      'How they are looked for; agents do both. `meaning` needs a provider of embeddings, which `both` goes without.',
  }),
})

export const PassageBody = Type.Object({
  document_id: Id,
  filename: Type.String(),
  chunk: Type.Integer({ description: 'Number of the passage in its document, from 0.' }),
  text: Type.String(),
  score: Type.Number({ description: 'Higher fits better; comparable within one answer.' }),
})

export const QueryBody = Type.Object({ query: Type.String(), results: Type.Array(PassageBody) })

export const documentExample = {
  document_id: '0197f3a2-7c1e-7000-8000-000000000010',
  filename: 'returns.md',
  size: 1834,
  status: 'ready' as const,
  chunks: 3,
  error: null,
  created_at: '2026-01-31T09:00:00.000Z',
  updated_at: '2026-01-31T09:00:04.000Z',
}

export const passageExample = {
  document_id: documentExample.document_id,
  filename: documentExample.filename,
  chunk: 0,
  text: 'Returns > Deadline:\nYou can return any item within 30 days of delivery.',
  score: 2.31,
}

/** A document as callers see it. */
export function documentBody(document: Document): Static<typeof DocumentBody> {
  return {
    document_id: document.id,
    filename: document.filename,
    size: document.size_bytes,
    status: document.status,
    chunks: document.chunk_count,
    error: document.error,
    created_at: document.created_at.toISOString(),
    updated_at: document.updated_at.toISOString(),
  }
}

export function passageBody({ documentId, filename, chunk, text, score }: Passage): Static<typeof PassageBody> {
  return { document_id: documentId, filename, chunk, text, score }
}
