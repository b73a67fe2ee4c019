import { Type } from 'typebox'
import { PatchbayError } from '../../../runtime/lib/errors.ts'
import { createSecretBox } from '../../../runtime/lib/secret-box.ts'
import { applyGroupRoles, tieIdentity, userOfIdentity } from '../../../store/accounts/identities.ts'
import { readPhoneNumber } from '../../phone-number.ts'
import { defineRoute, Reply } from '../../route.ts'
import type { Services } from '../../services.ts'
import { quotasOfNewWorkspace } from '../../workspaces/new-workspace.ts'
import { beginSession } from '../begin-session.ts'
import { cookie, readCookie } from '../cookies.ts'
import { LANGUAGE_HEADER, withLanguage } from '../mail-language.ts'
import { hashPassword } from '../password.ts'
import { rolesOf } from './group-roles.ts'
import type { IdentityProvider, SsoFlow, SsoPerson } from './identity-provider.ts'

const tag = 'Authentication'
const FLOW_COOKIE = 'sso_flow'
const FLOW_PATH = '/auth/sso'
const FLOW_TTL_S = 600
const CONSOLE = '/console/'

const Text = Type.Optional(Type.String({ maxLength: 4_000 }))

const begin = defineRoute({
  method: 'GET',
  path: '/auth/sso',
  auth: 'none',
  role: 'none',
  success: { status: 302, schema: Type.String(), contentType: 'text/html' },
  errors: ['not_found', 'unavailable'],
  tag,
  summary: 'Sign in at the identity provider of this installation',
  description:
    'For browsers. Leads to the provider of `PATCHBAY_SSO_ISSUER` (OpenID Connect), from there to `/auth/sso/callback`, and to the console.',
  handler: async (_, services) => {
    const provider = providerOf(services)
    const { url, flow } = await provider.begin()
    return redirect(url, [flowCookie(services, sealFlow(services, flow), FLOW_TTL_S)])
  },
})

const callback = defineRoute({
  method: 'GET',
  path: '/auth/sso/callback',
  auth: 'none',
  role: 'none',
  query: Type.Object({ code: Text, state: Text, iss: Text, error: Text, error_description: Text }),
  success: { status: 302, schema: Type.String(), contentType: 'text/html' },
  errors: ['not_found'],
  tag,
  summary: 'Where the identity provider sends the browser back',
  description:
    'Sets the cookies access_token and refresh_token and leads to the console; what went wrong stands there as `sso_error`.',
  headers: ['user-agent', LANGUAGE_HEADER],
  handler: async (request, services) => {
    const provider = providerOf(services)
    const over = flowCookie(services, '', 0)
    try {
      const flow = openFlow(services, readCookie(request.cookies, FLOW_COOKIE))
      if (flow === undefined) throw new PatchbayError('sso_failed')
      const person = await provider.finish(request.query, flow)
      const { user: found, isNew } = await admit(services, person)
      const user = await withLanguage(request, services, found)
      await joinByGroups(services, provider, user.id, person)
      const detail = { sso: person.issuer }
      if (isNew) await services.security.note(request, { kind: 'signup', userId: user.id, account: user.email, detail })
      return redirect(CONSOLE, [over, ...(await beginSession(request, services, user, detail))])
    } catch (err) {
      if (!(err instanceof PatchbayError)) throw err
      request.log.warn({ err, sso_error: request.query.error }, 'A sign-in by the identity provider failed')
      await services.security.note(request, {
        kind: 'login_failed',
        userId: null,
        account: '',
        detail: { sso: err.code },
      })
      return redirect(`${CONSOLE}?sso_error=${err.code}`, [over])
    }
  },
})

function providerOf({ identityProvider }: Services): IdentityProvider {
  if (identityProvider === undefined) throw new PatchbayError('not_found')
  return identityProvider
}

/** The user of this identity; one is made, or the one of the same address taken, where the provider vouches for the address. */
async function admit(services: Services, person: SsoPerson) {
  const { issuer, subject, name, email, phoneNumber } = person
  const known = await userOfIdentity(services.store.global, { issuer, subject })
  if (known !== undefined) return { user: known, isNew: false }
  if (!person.isEmailVerified || email === '') throw new PatchbayError('sso_email_unverified')
  const newcomer = {
    ...{ issuer, subject, name, email },
    // Nobody knows this password; a link by mail sets another.
    passwordHash: await hashPassword(crypto.randomUUID(), email),
    phoneNumber: (phoneNumber && readPhoneNumber(phoneNumber)) || '',
    quotas: quotasOfNewWorkspace(services, { email }),
  }
  return tieIdentity(services.store.global, newcomer, services.clock.nowMs())
}

/** The roles that the person's groups give; the last Admin of a workspace stays one. */
async function joinByGroups(
  { store, log }: Services,
  { rules }: IdentityProvider,
  userId: string,
  { groups }: SsoPerson,
): Promise<void> {
  if (rules.length === 0) return
  const { kept, unknown } = await applyGroupRoles(store.global, userId, rolesOf(groups, rules))
  if (kept.length > 0) log.warn({ userId, workspaces: kept }, 'The last Admin of a workspace keeps the role')
  if (unknown.length > 0) log.warn({ workspaces: unknown }, 'PATCHBAY_SSO_ROLES names workspaces that do not exist')
}

const boxOf = ({ config }: Services) => createSecretBox(config, 'sign-in flows')

function sealFlow(services: Services, flow: SsoFlow): string {
  const expiresAtMs = services.clock.nowMs() + FLOW_TTL_S * 1_000
  return boxOf(services).seal(JSON.stringify({ ...flow, expiresAtMs }), FLOW_COOKIE)
}

/** Undefined: there is none, it was changed, or it is too old. */
function openFlow(services: Services, cookie: string): SsoFlow | undefined {
  const text = cookie === '' ? undefined : boxOf(services).open(cookie, FLOW_COOKIE)
  if (text === undefined) return undefined
  const { expiresAtMs, ...flow } = JSON.parse(text) as SsoFlow & { expiresAtMs: number }
  return services.clock.nowMs() < expiresAtMs ? flow : undefined
}

const flowCookie = ({ config }: Services, value: string, maxAgeS: number) =>
  cookie(config, FLOW_COOKIE, value, maxAgeS, FLOW_PATH)

function redirect(location: string, cookies: readonly (readonly [string, string])[]): Reply {
  return new Reply({ body: '', status: 302, headers: [['location', location], ...cookies] })
}

export const ssoRoutes = [begin, callback]
