import { createHmac, hkdfSync, timingSafeEqual } from 'node:crypto'
import { PatchbayError } from '../../runtime/lib/errors.ts'
import { isObjectKey } from '../../runtime/plugin/object-key.ts'

/** Signs addresses of objects: each names one object, the name it is saved under, and when it ends. */
export interface LinkSigner {
  sign(key: string, link: { expiresInS: number; filename: string }): string
  /** Throws `invalid_token` for what was never signed here, `token_expired` for what is over. */
  open(link: string): { key: string; filename: string }
}

const MAX_LINK_CHARACTERS = 2_048

/** Every node with the same secret opens what another signed. */
export function openLinkSigner(
  secret: string,
  nowMs: () => number = Date.now,
  /** Links signed with these are opened as well. */
  alsoAccepted: readonly string[] = [],
): LinkSigner {
  const [key, ...others] = [secret, ...alsoAccepted].map((one) =>
    Buffer.from(hkdfSync('sha256', one, '', 'patchbay object links', 32)),
  ) as [Buffer, ...Buffer[]]
  const macOf = (payload: string, by = key): string => createHmac('sha256', by).update(payload).digest('base64url')
  return {
    sign(objectKey, { expiresInS, filename }) {
      const endS = Math.floor(nowMs() / 1000) + expiresInS
      const payload = Buffer.from(JSON.stringify([endS, objectKey, filename])).toString('base64url')
      return `${payload}.${macOf(payload)}`
    },
    open(link) {
      const [payload = '', signature = '', ...rest] = link.length > MAX_LINK_CHARACTERS ? [] : link.split('.')
      // As text: several spellings of Base64 stand for the same bytes, and only one was signed.
      const given = Buffer.from(signature)
      const isSignedBy = (by: Buffer): boolean => {
        const expected = Buffer.from(macOf(payload, by))
        return given.length === expected.length && timingSafeEqual(given, expected)
      }
      const signed = rest.length === 0 && [key, ...others].some(isSignedBy)
      if (!signed) throw new PatchbayError('invalid_token')
      const [endS, objectKey, filename] = JSON.parse(Buffer.from(payload, 'base64url').toString()) as [
        number,
        string,
        string,
      ]
      if (!isObjectKey(objectKey)) throw new PatchbayError('invalid_token')
      if (endS * 1000 <= nowMs()) throw new PatchbayError('token_expired')
      return { key: objectKey, filename }
    },
  }
}
