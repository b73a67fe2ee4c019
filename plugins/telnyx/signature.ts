import { createPublicKey, type KeyObject, verify } from 'node:crypto'
import { PatchbayError } from '../../runtime/lib/errors.ts'

/** A webhook older than this may be a recorded one. */
const MAX_AGE_MS = 300_000
/** DER of an Ed25519 public key, up to its 32 bytes. */
const SPKI_HEAD = Buffer.from('302a300506032b6570032100', 'hex')

/** The account's public key, base64 as the portal shows it. Throws when it is invalid. */
export function publicKeyOf(base64: string): KeyObject {
  const raw = Buffer.from(base64, 'base64')
  if (raw.length !== 32) throw new Error('TELNYX_PUBLIC_KEY must be the public key of the account, 32 bytes in base64')
  return createPublicKey({ key: Buffer.concat([SPKI_HEAD, raw]), format: 'der', type: 'spki' })
}

/** Throws `forged_request` unless Telnyx signed the body lately: Ed25519 over timestamp, a bar and the body. */
export function requireSignature(
  key: KeyObject,
  shown: { signature: string; timestamp: string },
  body: string,
  nowMs: number,
): void {
  const ageMs = Math.abs(nowMs - Number(shown.timestamp) * 1000)
  const text = Buffer.from(`${shown.timestamp}|${body}`)
  const fits = ageMs <= MAX_AGE_MS && verify(null, text, key, Buffer.from(shown.signature, 'base64'))
  if (!fits) throw new PatchbayError('forged_request')
}
