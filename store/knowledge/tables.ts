import type { Generated, GeneratedAlways, Selectable } from 'kysely'
import type { DocumentFormat } from '../../runtime/knowledge/blocks.ts'
import type { BoundWorkspace, CreatedAt } from '../database/tables.ts'

/** Written by triggers on `calls` alone. */
export type DocumentStatus = 'processing' | 'ready' | 'failed'

interface DocumentsTable {
  id: string
  workspace_id: BoundWorkspace
  agent_id: string
  filename: string
  format: DocumentFormat | 'unsupported'
  size_bytes: number
  status: DocumentStatus
  chunk_count: Generated<number>
  error: string | null
  created_at: CreatedAt
  updated_at: Generated<Date>
}

interface UploadsTable {
  id: string
  workspace_id: BoundWorkspace
  agent_id: string
  created_at: CreatedAt
}

interface UploadPartsTable {
  upload_id: string
  workspace_id: BoundWorkspace
  seq: number
  bytes: Buffer
}

interface ChunksTable {
  document_id: string
  workspace_id: BoundWorkspace
  seq: number
  text: string
}

interface VectorSegmentsTable {
  id: GeneratedAlways<number>
  document_id: string
  workspace_id: BoundWorkspace
  agent_id: string
  first_chunk: number
  bytes: Buffer
}

export type Document = Selectable<DocumentsTable>

/** Of a workspace. */
export interface TenantKnowledgeTables {
  documents: DocumentsTable
  uploads: UploadsTable
  upload_parts: UploadPartsTable
  chunks: ChunksTable
  vector_segments: VectorSegmentsTable
}
