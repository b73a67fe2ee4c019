import type { ByteRange, ObjectFolder, ObjectSource, ObjectStore, StoredObject } from '../../runtime/plugin/contract.ts'
import { requireObjectKey } from '../../runtime/plugin/object-key.ts'

/** An object store whose engine is the folder the core lends. */
export class LocalFiles implements ObjectStore {
  readonly #folder: ObjectFolder

  constructor(folder: ObjectFolder) {
    this.#folder = folder
  }

  async put(key: string, source: ObjectSource, _contentType: string, signal: AbortSignal): Promise<void> {
    requireObjectKey(key)
    await this.#folder.put(key, source, signal)
  }

  async get(key: string, signal: AbortSignal, range?: ByteRange): Promise<StoredObject | undefined> {
    requireObjectKey(key)
    return this.#folder.get(key, signal, range)
  }

  async url(
    key: string,
    link: { expiresInS: number; filename: string },
    signal: AbortSignal,
  ): Promise<string | undefined> {
    requireObjectKey(key)
    signal.throwIfAborted()
    return (await this.#folder.has(key)) ? this.#folder.link(key, link) : undefined
  }

  async remove(key: string, signal: AbortSignal): Promise<void> {
    requireObjectKey(key)
    signal.throwIfAborted()
    await this.#folder.remove(key)
  }
}
