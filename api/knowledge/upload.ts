import { uuidv7 } from 'uuidv7'
import { DOCUMENT_FORMATS, documentFormat, documentText } from '../../runtime/knowledge/blocks.ts'
import { PatchbayError } from '../../runtime/lib/errors.ts'
import type { Logger } from '../../runtime/process/log.ts'
import { sqlState } from '../../store/database/database.ts'
import type { Document } from '../../store/database/schema.ts'
import type { Tenant } from '../../store/database/tenant.ts'
import {
  addDocuments,
  appendToUpload,
  discardUploads,
  type NewDocument,
  openUpload,
} from '../../store/knowledge/documents.ts'
import type { UploadedFile } from '../http/multipart.ts'

const PART_BYTES = 256 * 1024
const MAX_FILENAME_CHARACTERS = 255
const FOREIGN_KEY_VIOLATION = '23503'

/**
 * The files of one request: each goes to the database in parts as it arrives, and all become documents together once the
 * body has ended well. Until then nothing of them is seen; `discard` takes back what was stored.
 */
export class Upload {
  readonly #tenant: Tenant
  readonly #agentId: string
  readonly #log: Logger
  readonly #requireRoom: (bytes: number) => void
  #receivedBytes = 0
  readonly #uploadIds: string[] = []
  readonly #documents: NewDocument[] = []

  /** `requireRoom` gets the bytes received so far, and throws when that is too much. */
  constructor(tenant: Tenant, agentId: string, log: Logger, requireRoom: (bytes: number) => void) {
    this.#tenant = tenant
    this.#agentId = agentId
    this.#log = log
    this.#requireRoom = requireRoom
  }

  /** Files received so far. */
  get count(): number {
    return this.#documents.length
  }

  get bytes(): number {
    return this.#documents.reduce((sum, { size_bytes }) => sum + size_bytes, 0)
  }

  async receive(file: UploadedFile): Promise<void> {
    const id = uuidv7()
    const filename = plainFilename(file.filename)
    const format = documentFormat(filename, file.contentType)
    const size = format === undefined ? await drain(file) : await this.#store(id, file)
    const error = format === undefined ? unsupported(filename) : size === 0 ? 'The file is empty' : null
    this.#documents.push({
      id,
      filename,
      format: format ?? 'unsupported',
      size_bytes: size,
      status: error === null ? 'processing' : 'failed',
      error,
    })
  }

  /** Makes the documents. Throws `agent_not_found` when the agent was deleted while the files came. */
  async finish(): Promise<Document[]> {
    return asAgentNotFound(() => addDocuments(this.#tenant, this.#agentId, this.#documents))
  }

  /** Never throws: what can't be removed now is swept later. */
  async discard(): Promise<void> {
    try {
      await discardUploads(this.#tenant, this.#uploadIds)
    } catch (err) {
      this.#log.warn({ err }, 'Could not remove a broken upload yet')
    }
  }

  async #store(id: string, file: UploadedFile): Promise<number> {
    let pending: Buffer[] = []
    let pendingBytes = 0
    let size = 0
    let seq = 0
    const flush = async () => {
      const part = pending.length === 1 ? pending[0]! : Buffer.concat(pending)
      pending = []
      pendingBytes = 0
      if (seq === 0) {
        this.#uploadIds.push(id)
        await asAgentNotFound(() => openUpload(this.#tenant, id, this.#agentId))
      }
      await appendToUpload(this.#tenant, id, seq++, part)
    }
    for await (const bytes of file.content) {
      pending.push(bytes)
      pendingBytes += bytes.length
      size += bytes.length
      this.#receivedBytes += bytes.length
      this.#requireRoom(this.#receivedBytes)
      if (pendingBytes >= PART_BYTES) await flush()
    }
    if (pendingBytes > 0) await flush()
    return size
  }
}

/** Reads a file to its end and keeps nothing: the limits of its size hold all the same. */
export async function drain(file: UploadedFile): Promise<number> {
  let size = 0
  for await (const bytes of file.content) size += bytes.length
  return size
}

function plainFilename(sent: string): string {
  const name = documentText(sent.split(/[/\\]/).at(-1) ?? '').trim()
  // The end stays: it says what kind of file this is.
  return name === '' ? 'unnamed' : [...name].slice(-MAX_FILENAME_CHARACTERS).join('')
}

function unsupported(filename: string): string {
  const extension = /\.[^.]{1,20}$/.exec(filename)?.[0]
  const what = extension === undefined ? 'Unsupported file type' : `Unsupported file type "${extension}"`
  return `${what}; supported: ${DOCUMENT_FORMATS.join(', ')}`
}

async function asAgentNotFound<T>(write: () => Promise<T>): Promise<T> {
  try {
    return await write()
  } catch (cause) {
    if (sqlState(cause) === FOREIGN_KEY_VIOLATION) throw new PatchbayError('agent_not_found', { cause })
    throw cause
  }
}
