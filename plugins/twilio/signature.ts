import twilio from 'twilio'
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
  const fits = signature !== '' && urls.some((url) => twilio.validateRequest(authToken, signature, url, form))
  if (!fits) throw new PatchbayError('forged_request')
}
