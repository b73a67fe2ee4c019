import { Type } from 'typebox'
import { PatchbayError } from '../../runtime/errors.ts'
import { useLink } from '../../store/one-time-links.ts'
import type { User } from '../../store/schema.ts'
import {
  endSession,
  type IssuedRefreshToken,
  rotateRefreshToken,
  sessionOfToken,
  startSession,
} from '../../store/sessions.ts'
import { createUser, userByEmail, userById } from '../../store/users.ts'
import { isUuid } from '../ids.ts'
import { requirePhoneNumber } from '../phone-number.ts'
import { defineRoute, Reply } from '../route.ts'
import type { Services } from '../services.ts'
import { quotasOfNewWorkspace } from '../workspaces/new-workspace.ts'
import { mailVerification } from './account-routes.ts'
import { ACCESS_COOKIE, REFRESH_COOKIE, readCookie, tokenCookies } from './cookies.ts'
import { hashPassword, passwordMatches } from './password.ts'
import { LoginInput, SignedInBody, SignupInput, UserBody, userBody, userExample } from './schema.ts'
import { signupOfferRoutes } from './signup-offer.ts'
import { isFromHere, ORIGIN_HEADERS, requireSignup } from './signup-policy.ts'

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
  headers: [...ORIGIN_HEADERS],
  handler: async (request, services) => {
    const { body, log } = request
    const { store, config, throttle } = services
    const phoneNumber = requirePhoneNumber(body.phone_number)
    const { name, email, invitation } = body
    const isLocal = isFromHere(request)
    const isInvited = invitation !== undefined
    const isOwner = !isInvited && (await requireSignup(services, { email, isLocal, setupToken: body.setup_token }))
    if (!isLocal) await throttle.enter(`signup ${email}`, request.clientAddress)
    const passwordHash = await hashPassword(body.password, request.clientAddress)
    if (isInvited) await useInvitation(services, invitation, email)
    const user = await createUser(store.global, {
      name,
      email,
      passwordHash,
      phoneNumber,
      // Where everybody may sign up, the first may be a stranger.
      quotas: quotasOfNewWorkspace(services, { email }),
      isOperatorIfFirst: isOwner || (config.databaseUrl === undefined && (isLocal || isInvited)),
    })
    await mailVerification(services, user).catch((err) => log.warn({ err }, 'A verification link could not be mailed'))
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
    'After ten wrong passwords for an account from one address within 15 minutes, that address gets 429 with `Retry-After`; other addresses are not held up.',
  examples: { body: { email: 'ada@example.com', password: 'correct horse' }, success: { user: userExample } },
  headers: ['user-agent'],
  handler: async (request, services) => {
    const { body } = request
    const { store, clock, config, throttle } = services
    await throttle.enter(body.email, request.clientAddress)
    const user = await userByEmail(store.global, body.email)
    const matches = await passwordMatches(user?.password_hash, body.password, body.email.toLowerCase())
    if (user === undefined || !matches) throw new PatchbayError('wrong_credentials')
    await throttle.succeeded(body.email, request.clientAddress)
    const from = { address: request.clientAddress, userAgent: request.header('user-agent') }
    const session = await startSession(store.global, user.id, from, clock.nowMs(), config.refreshTokenTtlS)
    return signedIn(services, user, session)
  },
})

const refresh = defineRoute({
  method: 'POST',
  path: '/auth/refresh',
  auth: 'none',
  role: 'none',
  success: { status: 200, schema: SignedInBody, description: 'Sets new cookies access_token and refresh_token.' },
  errors: ['invalid_token', 'user_not_found', 'cross_origin'],
  tag,
  summary: 'Trade the refresh token for new tokens',
  description:
    'Each refresh token works once. Used again more than 10 s later, it ends every token that descends from the same login.',
  examples: { success: { user: userExample } },
  handler: async ({ cookies }, services) => {
    const { store, clock, config } = services
    const token = readCookie(cookies, REFRESH_COOKIE)
    const next = await rotateRefreshToken(store.global, token, clock.nowMs(), config.refreshTokenTtlS)
    if (next === undefined) throw new PatchbayError('invalid_token')
    const user = await userById(store.global, next.userId)
    if (user === undefined) throw new PatchbayError('user_not_found')
    return signedIn(services, user, next)
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
  handler: async ({ cookies }, services) => {
    const { store, clock } = services
    for (const session of await sessionsNamed(cookies, services)) {
      await endSession(store.global, session.userId, session.id, clock.nowMs())
    }
    return new Reply({ body: { detail: 'Logged out' }, headers: tokenCookies(services, '', '') })
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

/** Uses up a link for this address. Throws `link_invalid`. */
async function useInvitation({ store, clock }: Services, token: string, email: string): Promise<void> {
  const link = await useLink(store.global, 'signup', token, clock.nowMs())
  if (link === undefined || link.email.toLowerCase() !== email.toLowerCase()) throw new PatchbayError('link_invalid')
}

async function signedIn(services: Services, user: User, session: IssuedRefreshToken): Promise<Reply> {
  const accessToken = await services.accessTokens.issue(user, session.sessionId)
  return new Reply({ body: { user: userBody(user) }, headers: tokenCookies(services, accessToken, session.token) })
}

/** The sessions that the cookies of a request belong to: that of the refresh token and that of the access token. */
async function sessionsNamed(cookies: string, { store, accessTokens }: Services) {
  const byRefresh = await sessionOfToken(store.global, readCookie(cookies, REFRESH_COOKIE))
  const claims = await Promise.resolve(readCookie(cookies, ACCESS_COOKIE))
    .then((token) => accessTokens.verify(token))
    .catch(() => undefined)
  const byAccess = claims?.sid && isUuid(claims.sid) && isUuid(claims.sub) && { id: claims.sid, userId: claims.sub }
  return [byRefresh, byAccess].filter((session) => session !== undefined && session !== '' && session !== false)
}

export const authRoutes = [...signupOfferRoutes, signup, login, refresh, logout, me]
