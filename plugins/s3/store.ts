import { signalWithin } from '../../runtime/lib/async/signal-within.ts'
import type { ByteRange, ObjectSource, ObjectStore, StoredObject } from '../../runtime/plugin/contract.ts'
import { requireObjectKey } from '../../runtime/plugin/object-key.ts'
import { explainStatus, ProviderError } from '../../runtime/plugin-sdk/provider-error.ts'
import type { S3Bucket } from './bucket.ts'
import { completionOf, elementOf, errorOf } from './xml.ts'

const MIB = 1024 * 1024
/** Up to this an object goes in one request; beyond, in parts. S3 takes parts from 5 MiB on, and 10,000 of them. */
const PART_BYTES = 8 * MIB
const MAX_PARTS = 10_000
const SMALL_TIMEOUT_MS = 10_000
/** A part, on a line of a megabit a second. */
const PART_TIMEOUT_MS = 90_000
const ABORT_TIMEOUT_MS = 10_000

/** Objects of one bucket, under a prefix. At most one part is in memory for each running `put`. */
export class S3Store implements ObjectStore {
  readonly #bucket: S3Bucket
  readonly #prefix: string

  constructor(bucket: S3Bucket, prefix: string) {
    this.#bucket = bucket
    this.#prefix = prefix
  }

  async put(key: string, source: ObjectSource, contentType: string, signal: AbortSignal): Promise<void> {
    const target = this.#keyOf(key)
    const headers = { 'content-type': contentType }
    if (source.size > PART_BYTES) return this.#putInParts(target, source, headers, signal)
    const body = ownBytes(await source.bytes(0, source.size))
    const response = await this.#bucket.send({
      method: 'PUT',
      key: target,
      headers,
      body,
      timeoutMs: PART_TIMEOUT_MS,
      signal,
    })
    await finish(response)
  }

  async get(key: string, signal: AbortSignal, range?: ByteRange): Promise<StoredObject | undefined> {
    const response = await this.#bucket.send({
      method: 'GET',
      key: this.#keyOf(key),
      ...(range === undefined ? {} : { headers: { range: `bytes=${range.start}-${range.end - 1}` } }),
      timeoutMs: SMALL_TIMEOUT_MS,
      signal,
    })
    if (response.status === 404 || response.body === null) {
      await response.body?.cancel().catch(() => {})
      return undefined
    }
    const whole = response.headers.get('content-range')?.split('/')[1] ?? response.headers.get('content-length')
    return { size: Number(whole), body: response.body }
  }

  async url(
    key: string,
    { expiresInS, filename }: { expiresInS: number; filename: string },
    signal: AbortSignal,
  ): Promise<string | undefined> {
    const target = this.#keyOf(key)
    // An address can be made for anything: whether it would lead anywhere, only the server knows.
    const response = await this.#bucket.send({ method: 'HEAD', key: target, timeoutMs: SMALL_TIMEOUT_MS, signal })
    if (response.status === 404) return undefined
    const name = filename.replace(/[^\w.-]/g, '_')
    return this.#bucket.presign(target, expiresInS, { 'response-content-disposition': `inline; filename="${name}"` })
  }

  async remove(key: string, signal: AbortSignal): Promise<void> {
    await finish(
      await this.#bucket.send({ method: 'DELETE', key: this.#keyOf(key), timeoutMs: SMALL_TIMEOUT_MS, signal }),
    )
  }

  #keyOf(key: string): string {
    requireObjectKey(key)
    return this.#prefix + key
  }

  async #putInParts(
    key: string,
    source: ObjectSource,
    headers: Record<string, string>,
    signal: AbortSignal,
  ): Promise<void> {
    const begun = await this.#bucket.send({
      method: 'POST',
      key,
      query: { uploads: '' },
      headers,
      timeoutMs: SMALL_TIMEOUT_MS,
      signal,
    })
    const uploadId = elementOf(await begun.text(), 'UploadId')
    if (uploadId === undefined) throw unexpected('it named no upload')
    try {
      const tags = await this.#sendParts(key, uploadId, source, signal)
      const done = await this.#bucket.send({
        method: 'POST',
        key,
        query: { uploadId },
        body: ownBytes(Buffer.from(completionOf(tags))),
        timeoutMs: PART_TIMEOUT_MS,
        signal,
      })
      // The head of this answer is sent before the parts are joined: failure may stand in the body of a 200.
      const text = await done.text()
      const { code, message } = errorOf(text)
      if (code !== undefined) throw new ProviderError(explainStatus({ title: 'S3' }, 500, message ?? '', code))
      if (!done.ok || elementOf(text, 'ETag') === undefined) throw unexpected('it did not confirm the upload')
    } catch (error) {
      await this.#abandon(key, uploadId)
      throw error
    }
  }

  async #sendParts(key: string, uploadId: string, source: ObjectSource, signal: AbortSignal): Promise<string[]> {
    const partBytes = Math.max(PART_BYTES, Math.ceil(source.size / MAX_PARTS / MIB) * MIB)
    const tags: string[] = []
    for (let start = 0; start < source.size; start += partBytes) {
      const response = await this.#bucket.send({
        method: 'PUT',
        key,
        query: { partNumber: String(tags.length + 1), uploadId },
        body: ownBytes(await source.bytes(start, Math.min(source.size, start + partBytes))),
        timeoutMs: PART_TIMEOUT_MS,
        signal,
      })
      await finish(response)
      const tag = response.headers.get('etag')
      if (tag === null) throw unexpected('it gave a part no tag')
      tags.push(tag)
    }
    return tags
  }

  /** Parts that are not abandoned are kept, and billed. What can't be reached now is for the bucket's lifecycle rule. */
  async #abandon(key: string, uploadId: string): Promise<void> {
    const signal = signalWithin(ABORT_TIMEOUT_MS)
    await this.#bucket
      .send({ method: 'DELETE', key, query: { uploadId }, timeoutMs: ABORT_TIMEOUT_MS, signal })
      .then(finish)
      .catch(() => {})
  }
}

async function finish(response: Response): Promise<void> {
  await response.arrayBuffer()
  if (!response.ok && response.status !== 404) throw unexpected(`it answered ${response.status}`)
}

function unexpected(what: string): ProviderError {
  return new ProviderError(explainStatus({ title: 'S3' }, 502, what))
}

/** The bytes as fetch takes them: never over shared memory. */
function ownBytes(bytes: Uint8Array): Uint8Array<ArrayBuffer> {
  return bytes.buffer instanceof ArrayBuffer ? (bytes as Uint8Array<ArrayBuffer>) : new Uint8Array(bytes)
}
