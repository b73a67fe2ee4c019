import { createHmac, timingSafeEqual } from 'node:crypto'
import { parse, stringify } from 'node:querystring'
import { PatchbayError } from '../../runtime/lib/errors.ts'

/**
 * Throws `forged_request` unless the signature is that of a request Twilio made to one of the addresses: base64 of
 * HMAC-SHA1 under the account's token, over the address and the form's fields in order.
 */
export function requireSignature(
  authToken: string,
  signature: string,
  urls: readonly string[],
  form: Readonly<Record<string, string>>,
): void {
  const fields = Object.keys(form)
    .sort()
    .map((name) => `${name}${form[name]}`)
    .join('')
  const given = Buffer.from(signature)
  const fits = (url: string): boolean => {
    const expected = Buffer.from(createHmac('sha1', authToken).update(`${url}${fields}`).digest('base64'))
    return given.length === expected.length && timingSafeEqual(given, expected)
  }
  if (!urls.some((url) => formsOf(url).some(fits))) throw new PatchbayError('forged_request')
}

/** An address as Twilio may have signed it: with its port or without, as it is or escaped in one of two ways. */
function formsOf(url: string): string[] {
  const escaped = new URL(url).toString()
  const at = escaped.indexOf('?')
  const legacy = at === -1 ? [] : [`${escaped.slice(0, at)}?${stringify(parse(escaped.slice(at + 1)))}`]
  return [url, escaped, ...legacy].flatMap((form) => {
    const [, scheme = '', host = '', port = '', rest = ''] =
      /^([a-z]+:\/\/)([^/?#]*?)(:\d+)?((?:[/?#].*)?)$/is.exec(form) ?? []
    const standard = scheme.toLowerCase() === 'https://' ? ':443' : ':80'
    return [`${scheme}${host}${rest}`, `${scheme}${host}${port || standard}${rest}`]
  })
}
