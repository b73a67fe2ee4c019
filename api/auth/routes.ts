import { Type } from 'typebox'
import { PatchbayError } from '../../runtime/errors.ts'
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
import { ACCESS_COOKIE, cookie, REFRESH_COOKIE, REFRESH_PATH, readCookie } from './cookies.ts'
import { hashPassword, passwordMatches } from './password.ts'
import { LoginInput, SignedInBody, SignupInput, UserBody, userBody, userExample } from './schema.ts'

const tag = 'Authentication'

const signup = defineRoute({
  method: 'POST',
  path: '/auth/signup',
  auth: 'none',
  role: 'none',
  body: SignupInput,
  success: { status: 201, schema: UserBody },
  errors: ['invalid_phone_number', 'email_taken', 'unavailable'],
  tag,
  summary: 'Register a user, who becomes Admin of a workspace of their own',
  examples: {
    body: { name: 'Ada Lovelace', email: 'ada@example.com', password: 'correct horse', phone_number: '+14155550123' },
    success: userExample,
  },
  handler: async ({ body, clientAddress }, { store }) => {
    const phoneNumber = requirePhoneNumber(body.phone_number)
    const passwordHash = await hashPassword(body.password, clientAddress)
    const { name, email } = body
    return userBody(await createUser(store.global, { name, email, passwordHash, phoneNumber }))
  },
})

const login = defineRoute({
  method: 'POST',
  path: '/auth/login',
  auth: 'none',
  role: 'none',
  body: LoginInput,
  success: { status: 200, schema: SignedInBody, description: 'Sets the cookies access_token and refresh_token.' },
  errors: ['wrong_credentials', 'unavailable'],
  tag,
  summary: 'Log in',
  examples: { body: { email: 'ada@example.com', password: 'correct horse' }, success: { user: userExample } },
  headers: ['user-agent'],
  handler: async (request, services) => {
    const { body } = request
    const { store, clock, config } = services
    const user = await userByEmail(store.global, body.email)
    const matches = await passwordMatches(user?.password_hash, body.password, body.email.toLowerCase())
    if (user === undefined || !matches) throw new PatchbayError('wrong_credentials')
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

/** Empty tokens remove the cookies. */
function tokenCookies({ config }: Services, accessToken: string, refreshToken: string) {
  const secure = config.publicUrl.startsWith('https:')
  const ttlS = (token: string, whenSet: number) => (token === '' ? 0 : whenSet)
  const access = { path: '/', maxAgeS: ttlS(accessToken, config.accessTokenTtlS), secure }
  const refresh = { path: REFRESH_PATH, maxAgeS: ttlS(refreshToken, config.refreshTokenTtlS), secure }
  return [
    ['set-cookie', cookie(ACCESS_COOKIE, accessToken, access)],
    ['set-cookie', cookie(REFRESH_COOKIE, refreshToken, refresh)],
  ] as const
}

export const authRoutes = [signup, login, refresh, logout, me]
