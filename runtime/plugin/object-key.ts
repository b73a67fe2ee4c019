import { PatchbayError } from '../lib/errors.ts'

const MAX_LENGTH = 512
const SEGMENT = /^[A-Za-z0-9_-][A-Za-z0-9._-]*$/

/**
 * Whether a text may name an object: segments of letters, digits, `.`, `_` and `-` between slashes, none empty or
 * beginning with a dot. So no key leads out of a folder, and none needs escaping in an address.
 */
export function isObjectKey(key: string): boolean {
  return key.length <= MAX_LENGTH && key.split('/').every((segment) => SEGMENT.test(segment))
}

/** @throws PatchbayError `plugin` for what may not name an object. */
export function requireObjectKey(key: string): void {
  if (isObjectKey(key)) return
  const reason = `"${key}" can't name an object; use letters, digits, ".", "_" and "-" between slashes`
  throw new PatchbayError('plugin', { params: { reason } })
}
