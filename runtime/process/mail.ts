import type { Transporter } from 'nodemailer'
import { PatchbayError } from '../lib/errors.ts'

/** Sends mail to people who have an account. */
export interface Mailer {
  /** Resolves when the server took it. Rejects within 20 s. */
  send(mail: { to: string; subject: string; text: string }): Promise<void>
  close(): void
}

const TIMEOUT_MS = 10_000

/**
 * By SMTP: `smtp://user:password@host:587` (by STARTTLS, unless the host is this machine or the
 * address says `?requireTLS=false`), `smtps://…` for TLS from the start. Rejects with `configuration` for
 * another address.
 */
export async function openMailer(smtpUrl: string, from: string): Promise<Mailer> {
  const protocol = URL.canParse(smtpUrl) ? new URL(smtpUrl).protocol : ''
  if (protocol !== 'smtp:' && protocol !== 'smtps:') {
    const reason = 'SMTP_URL must be smtp://user:password@host:port or smtps://…'
    throw new PatchbayError('configuration', { params: { reason } })
  }
  const { hostname, searchParams } = new URL(smtpUrl)
  const isThisMachine = /^(localhost|127(\.\d+){3}|\[::1\])$/.test(hostname)
  // A link by which a password is reset is not sent where others read along.
  const requireTLS = protocol === 'smtp:' && (searchParams.get('requireTLS') ?? String(!isThisMachine)) !== 'false'
  const options = {
    url: smtpUrl,
    requireTLS,
    connectionTimeout: TIMEOUT_MS,
    greetingTimeout: TIMEOUT_MS,
    socketTimeout: TIMEOUT_MS,
  }
  const { createTransport } = await import('nodemailer')
  const transport: Transporter = createTransport({ ...options, pool: true, maxConnections: 2 } as never)
  return {
    async send(mail) {
      await transport.sendMail({ from, ...mail })
    },
    close: () => transport.close(),
  }
}
