import { invitationMail } from '../../runtime/process/mail-texts.ts'
import { makeOneTimeLink, type NewLink } from '../../store/accounts/one-time-links.ts'
import type { LinkKind } from '../../store/database/schema.ts'
import type { ApiRequest } from '../route.ts'
import type { Services } from '../services.ts'
import { mailLanguage } from './mail-language.ts'

const HOUR_S = 3_600
const LINK_TTL_S: Readonly<Record<LinkKind, number>> = {
  password_reset: HOUR_S,
  verify_email: 7 * 24 * HOUR_S,
  signup: 7 * 24 * HOUR_S,
}

const PAGES: Readonly<Record<LinkKind, string>> = { password_reset: 'reset', verify_email: 'verify', signup: 'signup' }

/** Makes a link that works once. The token stands behind `#`, which no server and no proxy logs. */
export async function oneTimeLink(
  { store, clock, config }: Pick<Services, 'store' | 'clock'> & { config: { readonly publicUrl: string } },
  link: NewLink,
): Promise<{ link: string; token: string; expires_at: string }> {
  const { token, expiresAt } = await makeOneTimeLink(store.global, link, clock.nowMs(), LINK_TTL_S[link.kind])
  return {
    link: `${config.publicUrl}/account/${PAGES[link.kind]}#token=${token}`,
    token,
    expires_at: expiresAt.toISOString(),
  }
}

/** Where a mail server is set. A mail that cannot be sent is logged: the inviter has the link, too. */
export async function mailInvitation(
  request: Pick<ApiRequest<string, 'jwt'>, 'header' | 'user' | 'log'>,
  { mailer, config }: Services,
  { email, to, link }: { email: string; to: 'installation' | 'workspace'; link: string },
): Promise<void> {
  const { user, log } = request
  const invitation = { inviter: user.email, to, address: config.publicUrl, link }
  await mailer
    ?.send({ to: email, ...invitationMail(mailLanguage(request, user), invitation) })
    .catch((err) => log.warn({ err }, 'An invitation could not be mailed'))
}
