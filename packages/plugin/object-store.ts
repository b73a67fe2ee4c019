/** Bytes to keep, in pieces of the reader's choice; what was read once can be read again when sending it failed. */
export interface ObjectSource {
  readonly size: number
  /** The bytes from `start` up to, not including, `end`. */
  bytes(start: number, end: number): Promise<Uint8Array>
}

export interface StoredObject {
  /** Of the whole object, whatever part of it was asked for. */
  readonly size: number
  readonly body: AsyncIterable<Uint8Array>
}

/** Keeps whole objects under keys such as `recordings/<workspace>/<call>.wav`: letters, digits, `.`, `_` and `-` between slashes. */
export interface ObjectStore {
  /** Replaces what was there; a reader sees the old object or the new one, never a part. Keeps nothing when the signal aborts. */
  put(key: string, source: ObjectSource, contentType: string, signal: AbortSignal): Promise<void>
  /** The object, or what of it lies from `start` up to, not including, `end`. Undefined: there is none. */
  get(
    key: string,
    signal: AbortSignal,
    range?: { readonly start: number; readonly end: number },
  ): Promise<StoredObject | undefined>
  /** An address at which anyone may download it under this name for so long. Undefined: there is none. */
  url(
    key: string,
    link: { readonly expiresInS: number; readonly filename: string },
    signal: AbortSignal,
  ): Promise<string | undefined>
  /** Removing what is not there is no error. */
  remove(key: string, signal: AbortSignal): Promise<void>
}
