import { createHmac, randomBytes } from 'node:crypto'
import { createSecretBox, type DataKeys, type SecretBox } from '../lib/secret-box.ts'

/** Signatures of Standard Webhooks 1.0 (github.com/standard-webhooks/standard-webhooks). */

const PREFIX = 'whsec_'
const SECRET_BYTES = 24

export const newWebhookSecret = (): string => PREFIX + randomBytes(SECRET_BYTES).toString('base64')

/** The box in which secrets of webhooks are sealed; the label is the webhook's id. */
export const webhookSecrets = (keys: string | DataKeys): SecretBox => createSecretBox(keys, 'webhook secrets')

/** The headers of a message: one signature for each secret that is valid. */
export function signedHeaders(
  secrets: readonly string[],
  message: { id: string; timestampS: number; body: string },
): Record<string, string> {
  const { id, timestampS, body } = message
  const signatures = secrets.map((secret) => {
    const key = Buffer.from(secret.slice(PREFIX.length), 'base64')
    return `v1,${createHmac('sha256', key).update(`${id}.${timestampS}.${body}`).digest('base64')}`
  })
  return { 'webhook-id': id, 'webhook-timestamp': String(timestampS), 'webhook-signature': signatures.join(' ') }
}
