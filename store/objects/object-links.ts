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
export function openLinkSigner(secret: string, nowMs: () => number = Date.now): LinkSigner {
  const key = Buffer.from(hkdfSync('sha256', secret, '', 'patchbay object links', 32))
  const macOf = (payload: string): string => createHmac('sha256', key).update(payload).digest('base64url')
  return {
    sign(objectKey, { expiresInS, filename }) {
      const endS = Math.floor(nowMs() / 1000) + expiresInS
      const payload = Buffer.from(JSON.stringify([endS, objectKey, filename])).toString('base64url')
      return `${payload}.${macOf(payload)}`
    },
    open(link) {
      const [payload = '', signature = '', ...rest] = link.length > MAX_LINK_CHARACTERS ? [] : link.split('.')
      // As text: several spellings of Base64 stand for the same bytes, and only one was signed.
      const [given, expected] = [Buffer.from(signature), Buffer.from(macOf(payload))]
      const signed = rest.length === 0 && given.length === expected.length && timingSafeEqual(given, expected)
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
