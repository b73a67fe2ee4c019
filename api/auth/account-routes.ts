import { Type } from 'typebox'
import { inBackground } from '../../runtime/lib/async/boundary.ts'
import { PatchbayError } from '../../runtime/lib/errors.ts'
import { passwordResetMail, verificationMail } from '../../runtime/process/mail-texts.ts'
import { deleteUser, setEmailVerified, setPassword } from '../../store/accounts/accounts.ts'
import { acceptInvitation, declineInvitation, invitationsOf } from '../../store/accounts/invitations.ts'
import { endLinks, findLink, useLink } from '../../store/accounts/one-time-links.ts'
import { endSession, endSessions, type Session, sessionsOf } from '../../store/accounts/sessions.ts'
import { userByEmail } from '../../store/accounts/users.ts'
import type { LinkKind, User } from '../../store/database/schema.ts'
import { ListOf, ListQuery, listOf } from '../paging.ts'
import { type ApiRequest, defineRoute, Reply } from '../route.ts'
import { Id, Instant } from '../schema.ts'
import type { Services } from '../services.ts'
import { Detail, InvitationBody, invitationBody, invitationExample } from '../workspaces/schema.ts'
import { attemptOf } from './attempt.ts'
import { removedCookies } from './cookies.ts'
import { oneTimeLink } from './links.ts'
import { LANGUAGE_HEADER, mailLanguage } from './mail-language.ts'
import { accountPage } from './pages.ts'
import { hashPassword, passwordMatches } from './password.ts'
import { LoginInput, UserBody, userBody, userExample } from './schema.ts'

const tag = 'Authentication'
const user = { auth: 'jwt', role: 'none', tag } as const
const anyone = { auth: 'none', role: 'none', tag } as const

const Password = Type.String({ minLength: 8, maxLength: 1024 })
const Token = Type.String({ maxLength: 100, description: 'From the link.' })

const changePassword = defineRoute({
  ...user,
  method: 'POST',
  path: '/auth/password',
  body: Type.Object({ current_password: Type.String({ maxLength: 1024 }), new_password: Password }),
  success: { status: 200, schema: Detail },
  errors: ['wrong_credentials', 'too_many_attempts', 'unavailable'],
  summary: 'Change one’s password',
  description: 'Every other session ends; this one goes on.',
  examples: {
    body: { current_password: 'correct horse', new_password: 'battery staple' },
    success: { detail: 'Password changed' },
  },
  handler: async (request, services) => {
    const { body, user, sessionId } = request
    const { store, clock, security } = services
    await requirePassword(request, services, user, body.current_password)
    await setPassword(store.global, user.id, await hashPassword(body.new_password, user.email))
    await endLinks(store.global, 'password_reset', user.id)
    await endSessions(store.global, user.id, clock.nowMs(), sessionId)
    await security.note(request, { kind: 'password_changed', userId: user.id, account: user.email })
    return { detail: 'Password changed' }
  },
})

const forgotten = defineRoute({
  ...anyone,
  method: 'POST',
  path: '/auth/password/forgotten',
  body: Type.Object({ email: Type.String({ maxLength: 254 }) }),
  success: { status: 200, schema: Detail },
  errors: ['mail_off', 'too_many_attempts'],
  summary: 'Have a link mailed by which one chooses a new password',
  description:
    'The answer does not tell whether the address is registered. An account gets five mails an hour, whose links all work. Without a mail server it is 400, and the operator hands links out.',
  headers: [LANGUAGE_HEADER],
  examples: {
    body: { email: 'ada@example.com' },
    success: { detail: 'If the address is registered, a link is on its way' },
  },
  handler: async (request, services) => {
    const { body, clientAddress, id, log } = request
    const { mailer, store, throttle, security } = services
    if (mailer === undefined) throw new PatchbayError('mail_off')
    await throttle.count(attemptOf(request, 'forgotten', body.email))
    // Not awaited: how long it takes would tell whether there is such a user.
    inBackground(
      'http',
      (async () => {
        const found = await userByEmail(store.global, body.email)
        if (found === undefined || !(await throttle.mayMail('forgotten', found.email))) return
        const { link } = await oneTimeLink(services, {
          kind: 'password_reset',
          userId: found.id,
          email: found.email,
          createdBy: null,
        })
        await mailer.send({ to: found.email, ...passwordResetMail(mailLanguage(request, found), { link }) })
        const event = { kind: 'password_link_mailed', userId: found.id, account: found.email } as const
        await security.note({ clientAddress, id }, event)
      })().catch((err) => log.warn({ err }, 'A password link could not be mailed')),
    )
    return { detail: 'If the address is registered, a link is on its way' }
  },
})

const reset = defineRoute({
  ...anyone,
  method: 'POST',
  path: '/auth/password/reset',
  body: Type.Object({ token: Token, new_password: Password }),
  success: { status: 200, schema: Detail },
  errors: ['link_invalid', 'unavailable'],
  summary: 'Choose a new password by a link',
  description: 'Every session ends.',
  examples: {
    body: { token: 'Qm9vbGVhbiBsb2dpYyBpcyBhbGdlYnJhIG9mIHR3b', new_password: 'battery staple' },
    success: { detail: 'Password changed' },
  },
  handler: async (request, services) => {
    const { body } = request
    const { store, clock, throttle, security } = services
    const found = await findLink(store.global, 'password_reset', body.token, clock.nowMs())
    // Before the link is used up: where too many wait for a hash, it still works a moment later.
    if (found === undefined) return refuseLink(request, services, 'password_reset')
    const hash = await hashPassword(body.new_password, found.email)
    const link = await useLink(store.global, 'password_reset', body.token, clock.nowMs())
    if (!link?.user_id) return refuseLink(request, services, 'password_reset')
    await setPassword(store.global, link.user_id, hash)
    await endLinks(store.global, 'password_reset', link.user_id)
    await endSessions(store.global, link.user_id, clock.nowMs())
    await throttle.forgive(attemptOf(request, 'forgotten', link.email))
    await security.note(request, { kind: 'password_reset', userId: link.user_id, account: link.email })
    // By mail it proves the address; a link that the operator handed out proves nothing.
    if (link.created_by === null) await setEmailVerified(store.global, link.user_id, link.email)
    return { detail: 'Password changed' }
  },
})

const askVerification = defineRoute({
  ...user,
  method: 'POST',
  path: '/auth/email/verification',
  success: { status: 200, schema: Detail },
  errors: ['mail_off', 'too_many_attempts'],
  summary: 'Have a link mailed that proves one’s e-mail address',
  headers: [LANGUAGE_HEADER],
  examples: { success: { detail: 'A link is on its way' } },
  handler: async (request, services) => {
    const { user, log } = request
    if (services.mailer === undefined) throw new PatchbayError('mail_off')
    await services.throttle.count(attemptOf(request, 'verification', user.email))
    await mailVerification(request, services, user).catch((err) =>
      log.warn({ err }, 'A verification link could not be mailed'),
    )
    return { detail: 'A link is on its way' }
  },
})

const verify = defineRoute({
  ...anyone,
  method: 'POST',
  path: '/auth/email/verify',
  body: Type.Object({ token: Token }),
  success: { status: 200, schema: UserBody },
  errors: ['link_invalid'],
  summary: 'Prove one’s e-mail address by a link',
  examples: { body: { token: 'Qm9vbGVhbiBsb2dpYyBpcyBhbGdlYnJhIG9mIHR3b' }, success: userExample },
  handler: async (request, services) => {
    const { store, clock, throttle, security } = services
    const link = await useLink(store.global, 'verify_email', request.body.token, clock.nowMs())
    const verified = link?.user_id ? await setEmailVerified(store.global, link.user_id, link.email) : undefined
    if (verified === undefined) return refuseLink(request, services, 'verify_email')
    await throttle.forgive(attemptOf(request, 'verification', verified.email))
    await security.note(request, { kind: 'email_verified', userId: verified.id, account: verified.email })
    return userBody(verified)
  },
})

const SessionBody = Type.Object({
  session_id: Id,
  created_at: Instant,
  used_at: Instant,
  expires_at: Instant,
  address: Type.String({ description: 'Where the login came from.' }),
  user_agent: Type.String(),
  is_current: Type.Boolean(),
})

const sessionExample = {
  session_id: '0197f3a2-7c1e-7000-8000-00000000000d',
  created_at: '2026-01-31T09:00:00.000Z',
  used_at: '2026-01-31T09:45:00.000Z',
  expires_at: '2026-03-02T09:45:00.000Z',
  address: '203.0.113.9',
  user_agent: 'Mozilla/5.0',
  is_current: true,
}

const sessions = defineRoute({
  ...user,
  method: 'GET',
  path: '/auth/sessions',
  query: ListQuery,
  success: { status: 200, schema: ListOf(SessionBody) },
  summary: 'Where one is logged in, the last used first',
  examples: { success: [sessionExample] },
  handler: async ({ user, sessionId, query }, { store, clock }) => {
    const found = await sessionsOf(store.global, user.id, clock.nowMs())
    return listOf(
      found.map((session) => sessionBody(session, sessionId)),
      query,
    )
  },
})

const endOne = defineRoute({
  ...user,
  method: 'DELETE',
  path: '/auth/sessions/{session_id}',
  params: {
    session_id: { description: 'The session.', notFound: 'session_not_found', example: sessionExample.session_id },
  },
  success: { status: 200, schema: Detail },
  summary: 'End one of one’s sessions; its tokens stop working at once',
  examples: { success: { detail: 'Session ended' } },
  handler: async (request, { store, clock, security }) => {
    const { user, params } = request
    if (!(await endSession(store.global, user.id, params.session_id, clock.nowMs()))) {
      throw new PatchbayError('session_not_found')
    }
    const detail = { session_id: params.session_id }
    await security.note(request, { kind: 'session_ended', userId: user.id, account: user.email, detail })
    return { detail: 'Session ended' }
  },
})

const logoutEverywhere = defineRoute({
  ...user,
  method: 'POST',
  path: '/auth/logout-everywhere',
  success: { status: 200, schema: Detail, description: 'Removes both cookies.' },
  summary: 'End every session, this one included',
  examples: { success: { detail: 'Logged out everywhere' } },
  handler: async (request, services) => {
    const { user } = request
    await endSessions(services.store.global, user.id, services.clock.nowMs())
    await services.security.note(request, { kind: 'sessions_ended', userId: user.id, account: user.email })
    return new Reply({ body: { detail: 'Logged out everywhere' }, headers: removedCookies(services) })
  },
})

const invitations = defineRoute({
  ...user,
  method: 'GET',
  path: '/auth/invitations',
  query: ListQuery,
  success: { status: 200, schema: ListOf(InvitationBody) },
  summary: 'Workspaces one is invited to',
  examples: { success: [invitationExample] },
  handler: async ({ user, query }, { store }) =>
    listOf((await invitationsOf(store.global, user.id)).map(invitationBody), query),
})

const invitation_id = {
  description: 'The invitation.',
  notFound: 'invitation_not_found',
  example: invitationExample.invitation_id,
} as const

const accept = defineRoute({
  ...user,
  method: 'POST',
  path: '/auth/invitations/{invitation_id}/accept',
  params: { invitation_id },
  success: { status: 200, schema: Detail },
  summary: 'Become a member of the workspace one is invited to',
  examples: { success: { detail: 'Invitation accepted' } },
  handler: async ({ user, params }, { store }) => {
    if ((await acceptInvitation(store.global, user.id, params.invitation_id)) === undefined) {
      throw new PatchbayError('invitation_not_found')
    }
    return { detail: 'Invitation accepted' }
  },
})

const decline = defineRoute({
  ...user,
  method: 'DELETE',
  path: '/auth/invitations/{invitation_id}',
  params: { invitation_id },
  success: { status: 200, schema: Detail },
  summary: 'Decline an invitation',
  examples: { success: { detail: 'Invitation declined' } },
  handler: async ({ user, params }, { store }) => {
    if (!(await declineInvitation(store.global, user.id, params.invitation_id))) {
      throw new PatchbayError('invitation_not_found')
    }
    return { detail: 'Invitation declined' }
  },
})

const deleteMe = defineRoute({
  ...user,
  method: 'POST',
  path: '/auth/delete-account',
  body: Type.Object({ password: LoginInput.properties.password }),
  success: { status: 200, schema: Detail, description: 'Removes both cookies.' },
  errors: ['wrong_credentials', 'too_many_attempts', 'last_admin', 'unavailable'],
  summary: 'Delete one’s account, for good',
  description:
    'Workspaces without another member are deleted with everything in them. A workspace with other members must keep an Admin.',
  examples: { body: { password: 'correct horse' }, success: { detail: 'Account deleted' } },
  handler: async (request, services) => {
    const { user, body } = request
    await requirePassword(request, services, user, body.password)
    await deleteUser(services.store.global, user.id)
    await services.security.note(request, { kind: 'account_deleted', userId: user.id, account: user.email })
    return new Reply({ body: { detail: 'Account deleted' }, headers: removedCookies(services) })
  },
})

export const accountRoutes = [
  accountPage,
  changePassword,
  forgotten,
  reset,
  askVerification,
  verify,
  sessions,
  endOne,
  logoutEverywhere,
  invitations,
  accept,
  decline,
  deleteMe,
]

/** Throws `wrong_credentials`, or `too_many_attempts` before a password is even looked at. */
async function requirePassword(
  request: Pick<ApiRequest, 'clientAddress' | 'id'>,
  { throttle, security }: Services,
  user: { id: string; email: string; password_hash: string },
  password: string,
): Promise<void> {
  const attempt = { ...attemptOf(request, 'login', user.email), isKnownHere: async () => true }
  await throttle.guard(attempt, async () => {
    if (await passwordMatches(user.password_hash, password, user.email.toLowerCase())) return
    await security.note(request, { kind: 'login_failed', userId: user.id, account: user.email })
    throw new PatchbayError('wrong_credentials')
  })
}

async function refuseLink(
  request: Pick<ApiRequest, 'clientAddress' | 'id'>,
  { security }: Services,
  link: LinkKind,
): Promise<never> {
  await security.note(request, { kind: 'link_refused', userId: null, account: '', detail: { link } })
  throw new PatchbayError('link_invalid')
}

/** Mails a link that proves the address; nothing where no mail server is set. */
export async function mailVerification(
  request: Pick<ApiRequest, 'header'>,
  services: Services,
  user: Pick<User, 'id' | 'email' | 'language'>,
): Promise<void> {
  const { mailer, throttle } = services
  if (mailer === undefined || !(await throttle.mayMail('verification', user.email))) return
  const { link } = await oneTimeLink(services, {
    kind: 'verify_email',
    userId: user.id,
    email: user.email,
    createdBy: null,
  })
  await mailer.send({ to: user.email, ...verificationMail(mailLanguage(request, user), { link }) })
}

function sessionBody(session: Session, current: string | undefined) {
  return {
    session_id: session.id,
    created_at: session.created_at.toISOString(),
    used_at: session.used_at.toISOString(),
    expires_at: session.expires_at.toISOString(),
    address: session.address,
    user_agent: session.user_agent,
    is_current: session.id === current,
  }
}
