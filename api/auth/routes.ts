import { Type } from 'typebox'
import { PatchbayError } from '../../runtime/lib/errors.ts'
import { changeUser } from '../../store/accounts/accounts.ts'
import { joinByLink } from '../../store/accounts/invitations.ts'
import { useLink } from '../../store/accounts/one-time-links.ts'
import { endSession, hasLoggedInFrom, sessionsOfTokens, useRefreshToken } from '../../store/accounts/sessions.ts'
import { createUser, userByEmail, userById } from '../../store/accounts/users.ts'
import { isUuid } from '../ids.ts'
import { requirePhoneNumber } from '../phone-number.ts'
import { type ApiRequest, defineRoute, Reply } from '../route.ts'
import type { Services } from '../services.ts'
import { quotasOfNewWorkspace } from '../workspaces/new-workspace.ts'
import { mailVerification } from './account-routes.ts'
import { attemptOf } from './attempt.ts'
import { beginSession } from './begin-session.ts'
import { ACCESS_COOKIE, accessCookie, REFRESH_COOKIE, readCookie, readCookies, removedCookies } from './cookies.ts'
import { LANGUAGE_HEADER, withLanguage } from './mail-language.ts'
import { hashPassword, passwordMatches } from './password.ts'
import { ChangeUserInput, LoginInput, SignedInBody, SignupInput, UserBody, userBody, userExample } from './schema.ts'
import { signupOfferRoutes } from './signup-offer.ts'
import { isFromHere, type Newcomer, ORIGIN_HEADERS, requireSignup } from './signup-policy.ts'
import { ssoRoutes } from './sso/routes.ts'

const tag = 'Authentication'

const signup = defineRoute({
  method: 'POST',
  path: '/auth/signup',
  auth: 'none',
  role: 'none',
  body: SignupInput,
  success: { status: 201, schema: UserBody },
  errors: [
    'invalid_phone_number',
    'email_taken',
    'signup_closed',
    'setup_token_missing',
    'setup_token_wrong',
    'link_invalid',
    'too_many_attempts',
    'unavailable',
  ],
  tag,
  summary: 'Register a user, who becomes Admin of a workspace of their own',
  examples: {
    body: { name: 'Ada Lovelace', email: 'ada@example.com', password: 'correct horse', phone_number: '+14155550123' },
    success: userExample,
  },
  description:
    'Who may is the operator’s to say: everybody, those with an invitation, nobody; by default requests from the machine itself. The first user may come from another machine with the setup token.',
  headers: [...ORIGIN_HEADERS, LANGUAGE_HEADER],
  handler: async (request, services) => {
    const { body, log } = request
    const { store, config, throttle } = services
    const phoneNumber = requirePhoneNumber(body.phone_number)
    const { name, email, invitation } = body
    const isLocal = isFromHere(request, services)
    const isInvited = invitation !== undefined
    const join = async () => {
      const isOwner =
        !isInvited && (await admitted(request, services, { email, isLocal, setupToken: body.setup_token }))
      const passwordHash = await hashPassword(body.password, request.clientAddress)
      return createUser(store.global, {
        name,
        email,
        passwordHash,
        phoneNumber,
        // With open sign-up the first user may be a stranger.
        quotas: quotasOfNewWorkspace(services, { email }),
        join: (trx, userId) => joinWorkspace(trx, userId, { token: invitation, email, nowMs: services.clock.nowMs() }),
        isOperatorIfFirst: isOwner || (config.databaseUrl === undefined && (isLocal || isInvited)),
      })
    }
    // The setup token and links must not be guessed at for ever.
    const user = isLocal ? await join() : await throttle.guard(attemptOf(request, 'signup', email), join)
    await services.security.note(request, { kind: 'signup', userId: user.id, account: user.email })
    await mailVerification(request, services, user).catch((err) =>
      log.warn({ err }, 'A verification link could not be mailed'),
    )
    return userBody(user)
  },
})

const login = defineRoute({
  method: 'POST',
  path: '/auth/login',
  auth: 'none',
  role: 'none',
  body: LoginInput,
  success: { status: 200, schema: SignedInBody, description: 'Sets the cookies access_token and refresh_token.' },
  errors: ['wrong_credentials', 'too_many_attempts', 'unavailable'],
  tag,
  summary: 'Log in',
  description:
    'After ten wrong passwords for an account from one address within 15 minutes, further tries for it from there get 429 with `Retry-After`; after 200 for any accounts, so do tries for accounts that never logged in from there. Right passwords and refused tries do not count; other addresses are not held up.',
  examples: { body: { email: 'ada@example.com', password: 'correct horse' }, success: { user: userExample } },
  headers: ['user-agent', LANGUAGE_HEADER],
  handler: async (request, services) => {
    const { body } = request
    const { store, throttle, security } = services
    const isKnownHere = async () => {
      const known = await userByEmail(store.global, body.email)
      return known !== undefined && hasLoggedInFrom(store.global, known.id, request.clientAddress)
    }
    const user = await throttle.guard({ ...attemptOf(request, 'login', body.email), isKnownHere }, async () => {
      const found = await userByEmail(store.global, body.email)
      const matches = await passwordMatches(found?.password_hash, body.password, body.email.toLowerCase())
      if (found !== undefined && matches) return found
      await security.note(request, { kind: 'login_failed', userId: found?.id ?? null, account: found?.email ?? '' })
      throw new PatchbayError('wrong_credentials')
    })
    const known = await withLanguage(request, services, user)
    return new Reply({ body: { user: userBody(known) }, headers: await beginSession(request, services, known) })
  },
})

const refresh = defineRoute({
  method: 'POST',
  path: '/auth/refresh',
  auth: 'none',
  role: 'none',
  success: { status: 200, schema: SignedInBody, description: 'Sets a new cookie access_token.' },
  errors: ['invalid_token', 'user_not_found', 'cross_origin'],
  tag,
  summary: 'Get a new access token for the refresh token',
  description:
    'The refresh token stays good for 30 days from the login, until logout, logout everywhere or a new password.',
  examples: { success: { user: userExample } },
  handler: async ({ cookies }, services) => {
    const { store, clock } = services
    const session = await useRefreshToken(store.global, readCookies(cookies, REFRESH_COOKIE), clock.nowMs())
    if (session === undefined) throw new PatchbayError('invalid_token')
    const user = await userById(store.global, session.userId)
    if (user === undefined) throw new PatchbayError('user_not_found')
    const accessToken = await services.accessTokens.issue(user, session.sessionId)
    return new Reply({ body: { user: userBody(user) }, headers: [accessCookie(services, accessToken)] })
  },
})

const logout = defineRoute({
  method: 'POST',
  path: '/auth/logout',
  auth: 'none',
  role: 'none',
  success: { status: 200, schema: Type.Object({ detail: Type.String() }), description: 'Removes both cookies.' },
  errors: ['cross_origin'],
  tag,
  summary: 'Log out',
  description: 'Ends the session: its refresh token and every access token of it stop working at once.',
  examples: { success: { detail: 'Logged out' } },
  handler: async (request, services) => {
    const { store, clock, security } = services
    for (const { id, userId } of await sessionsNamed(request.cookies, services)) {
      if (!(await endSession(store.global, userId, id, clock.nowMs()))) continue
      const account = (await userById(store.global, userId))?.email ?? ''
      await security.note(request, { kind: 'logout', userId, account, detail: { session_id: id } })
    }
    return new Reply({ body: { detail: 'Logged out' }, headers: removedCookies(services) })
  },
})

const me = defineRoute({
  method: 'GET',
  path: '/auth/me',
  auth: 'jwt',
  role: 'none',
  success: { status: 200, schema: UserBody },
  tag,
  summary: 'The user who is logged in',
  examples: { success: userExample },
  handler: ({ user }) => userBody(user),
})

const changeMe = defineRoute({
  method: 'PATCH',
  path: '/auth/me',
  auth: 'jwt',
  role: 'none',
  body: ChangeUserInput,
  success: { status: 200, schema: UserBody },
  errors: ['invalid_phone_number'],
  tag,
  summary: 'Change one’s name, phone number or language',
  description:
    'Fields that are left out keep their values. The language is that of mails; the console sends the one that is chosen there. Until then it is the first of `Accept-Language` at a login that mails are written in.',
  examples: { body: { name: 'Ada Lovelace', language: 'en' }, success: userExample },
  handler: async ({ body, user }, { store }) => {
    const number = body.phone_number === undefined ? undefined : requirePhoneNumber(body.phone_number)
    const change = { name: body.name, phone_number: number, language: body.language }
    const changed = await changeUser(store.global, user.id, change)
    if (changed === undefined) throw new PatchbayError('user_not_found')
    return userBody(changed)
  },
})

/** As requireSignup; a refusal is noted. */
async function admitted(
  request: Pick<ApiRequest, 'clientAddress' | 'id'>,
  services: Services,
  newcomer: Newcomer,
): Promise<boolean> {
  try {
    return await requireSignup(services, newcomer)
  } catch (error) {
    if (error instanceof PatchbayError) {
      const detail = { reason: error.code }
      await services.security.note(request, { kind: 'signup_refused', userId: null, account: '', detail })
    }
    throw error
  }
}

/**
 * Uses up the link by which somebody signs up. Resolves with the workspace that it leads into, if any. Throws `link_invalid`; a
 * signup that fails leaves the link as it was.
 */
async function joinWorkspace(
  trx: Parameters<typeof useLink>[0],
  userId: string,
  { token, email, nowMs }: { token: string | undefined; email: string; nowMs: number },
): Promise<string | undefined> {
  if (token === undefined) return undefined
  const link = await useLink(trx, 'signup', token, nowMs)
  const isTheirs = link?.email === '' || link?.email.toLowerCase() === email.toLowerCase()
  if (link === undefined || !isTheirs) throw new PatchbayError('link_invalid')
  const { workspace_id: workspaceId, role, created_by: createdBy } = link
  if (workspaceId === null || role === null) return undefined
  if (!(await joinByLink(trx, userId, { workspaceId, role, createdBy }))) throw new PatchbayError('link_invalid')
  return workspaceId
}

/** The sessions that the cookies of a request belong to: that of the refresh token and that of the access token. */
async function sessionsNamed(cookies: string, { store, accessTokens }: Services) {
  const byRefresh = await sessionsOfTokens(store.global, readCookies(cookies, REFRESH_COOKIE))
  const claims = await Promise.resolve(readCookie(cookies, ACCESS_COOKIE))
    .then((token) => accessTokens.verify(token))
    .catch(() => undefined)
  const byAccess = claims?.sid && isUuid(claims.sid) && isUuid(claims.sub) && { id: claims.sid, userId: claims.sub }
  return byAccess ? [...byRefresh, byAccess] : byRefresh
}

export const authRoutes = [...signupOfferRoutes, ...ssoRoutes, signup, login, refresh, logout, me, changeMe]
