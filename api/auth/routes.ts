import { Type } from 'typebox'
import { PatchbayError } from '../../runtime/errors.ts'
import { issueRefreshToken, revokeRefreshToken, rotateRefreshToken } from '../../store/refresh-tokens.ts'
import type { User } from '../../store/schema.ts'
import { createUser, userByEmail, userById } from '../../store/users.ts'
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
  errors: ['invalid_phone_number', 'email_taken'],
  tag,
  summary: 'Register a user, who becomes Admin of a workspace of their own',
  examples: {
    body: { name: 'Ada Lovelace', email: 'ada@example.com', password: 'correct horse', phone_number: '+14155550123' },
    success: userExample,
  },
  handler: async ({ body }, { store }) => {
    const phoneNumber = requirePhoneNumber(body.phone_number)
    const passwordHash = await hashPassword(body.password)
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
  errors: ['wrong_credentials'],
  tag,
  summary: 'Log in',
  examples: { body: { email: 'ada@example.com', password: 'correct horse' }, success: { user: userExample } },
  handler: async ({ body }, services) => {
    const { store, clock, config } = services
    const user = await userByEmail(store.global, body.email)
    const matches = await passwordMatches(user?.password_hash, body.password)
    if (user === undefined || !matches) throw new PatchbayError('wrong_credentials')
    const refresh = await issueRefreshToken(store.global, user.id, clock.nowMs(), config.refreshTokenTtlS)
    return signedIn(services, user, refresh.token)
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
    return signedIn(services, user, next.token)
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
  examples: { success: { detail: 'Logged out' } },
  handler: async ({ cookies }, services) => {
    const { store, clock } = services
    await revokeRefreshToken(store.global, readCookie(cookies, REFRESH_COOKIE), clock.nowMs())
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

async function signedIn(services: Services, user: User, refreshToken: string): Promise<Reply> {
  const accessToken = await services.accessTokens.issue(user)
  return new Reply({ body: { user: userBody(user) }, headers: tokenCookies(services, accessToken, refreshToken) })
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
