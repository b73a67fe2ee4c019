import { MAIL_LANGUAGES, type MailLanguage } from '../../runtime/process/mail-texts.ts'
import { learnLanguage } from '../../store/accounts/accounts.ts'
import type { User } from '../../store/database/schema.ts'
import type { ApiRequest } from '../route.ts'
import type { Services } from '../services.ts'
import { acceptedLanguage } from './accepted-language.ts'

/** What a route lists that mails somebody, or signs somebody in. */
export const LANGUAGE_HEADER = 'accept-language'

/** The language of a mail that this request has sent: the user's, else that of the browser; undefined: not known. */
export function mailLanguage(request: Pick<ApiRequest, 'header'>, user: Pick<User, 'language'>): string | undefined {
  return user.language ?? acceptedIn(request)
}

/** Notes the language of somebody who signs in, for mails that no request of theirs sends, unless one is known. */
export async function withLanguage(
  request: Pick<ApiRequest, 'header'>,
  { store }: Services,
  user: User,
): Promise<User> {
  const accepted = user.language === null ? acceptedIn(request) : undefined
  if (accepted === undefined) return user
  return (await learnLanguage(store.global, user.id, accepted)) ?? user
}

function acceptedIn(request: Pick<ApiRequest, 'header'>): MailLanguage | undefined {
  return acceptedLanguage(request.header(LANGUAGE_HEADER), MAIL_LANGUAGES)
}
