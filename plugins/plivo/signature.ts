import { createHmac, timingSafeEqual } from 'node:crypto'
import { PatchbayError } from '../../runtime/lib/errors.ts'

/**
 * Throws `forged_request` unless one of the signatures is that of a POST Plivo made to one of the addresses: version 3,
 * base64 of HMAC-SHA256 under the account's token over address, sorted query, sorted fields and nonce.
 */
export function requireSignature(
  authToken: string,
  shown: { signatures: string; nonce: string },
  urls: readonly string[],
  form: Readonly<Record<string, string>>,
): void {
  const offered = shown.signatures.split(',').map((signature) => Buffer.from(signature.trim(), 'base64'))
  const fits = urls.some((url) => {
    const expected = createHmac('sha256', authToken)
      .update(`${signedText(url, form)}.${shown.nonce}`)
      .digest()
    return offered.some((signature) => signature.length === expected.length && timingSafeEqual(signature, expected))
  })
  if (!fits || shown.nonce === '') throw new PatchbayError('forged_request')
}

function signedText(address: string, form: Readonly<Record<string, string>>): string {
  const url = new URL(address)
  const query = [...url.searchParams].sort(([a], [b]) => (a < b ? -1 : 1)).map(([name, value]) => `${name}=${value}`)
  const fields = Object.keys(form)
    .sort()
    .map((name) => name + form[name])
  const base = url.origin + url.pathname
  if (fields.length === 0) return query.length === 0 ? base : `${base}?${query.join('&')}`
  return `${base}?${query.join('&')}${query.length === 0 ? '' : '.'}${fields.join('')}`
}
