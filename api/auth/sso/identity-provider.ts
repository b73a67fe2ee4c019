import * as oidc from 'openid-client'
import type { EffectiveConfig } from '../../../config/schema.ts'
import { isLoopbackHost } from '../../../runtime/lib/client-address.ts'
import { PatchbayError } from '../../../runtime/lib/errors.ts'
import { cleanText } from '../../../runtime/lib/text.ts'
import { type GroupRule, groupRules } from './group-roles.ts'

/** OpenID Connect 1.0 with the authorization code flow and PKCE (RFC 7636), by openid-client, which is used here alone. */

const TIMEOUT_S = 10
const MAX_CLAIM_CHARS = 200
const MAX_GROUPS = 1_000

/** What belongs to one sign-in, kept by the browser between its two requests. */
export interface SsoFlow {
  readonly state: string
  readonly nonce: string
  readonly verifier: string
}

/** Who signed in, as the identity provider says. */
export interface SsoPerson {
  readonly issuer: string
  readonly subject: string
  readonly name: string
  readonly email: string
  /** The provider saw that the person reads mail to the address. */
  readonly isEmailVerified: boolean
  readonly phoneNumber: string | undefined
  readonly groups: readonly string[]
}

type SsoConfig = Pick<
  EffectiveConfig,
  | 'publicUrl'
  | 'ssoIssuer'
  | 'ssoClientId'
  | 'ssoClientSecret'
  | 'ssoScopes'
  | 'ssoGroupsClaim'
  | 'ssoRoles'
  | 'ssoName'
>

/** The identity provider of the configuration; undefined: there is none. Throws `configuration`. Asks nobody. */
export function openIdentityProvider(config: SsoConfig): IdentityProvider | undefined {
  const { ssoIssuer, ssoClientId } = config
  if (ssoIssuer === undefined) return undefined
  const wrong = (reason: string) => new PatchbayError('configuration', { params: { reason } })
  if (ssoClientId === undefined)
    throw wrong('PATCHBAY_SSO_ISSUER needs PATCHBAY_SSO_CLIENT_ID, which the provider gives.')
  const issuer = new URL(ssoIssuer)
  if (issuer.protocol !== 'https:' && !isLoopbackHost(issuer.host))
    throw wrong('PATCHBAY_SSO_ISSUER must begin with https:.')
  return new IdentityProvider(issuer, ssoClientId, config)
}

export class IdentityProvider {
  /** What the button of the sign-in page says. */
  readonly name: string
  readonly rules: readonly GroupRule[]
  readonly #issuer: URL
  readonly #clientId: string
  readonly #config: SsoConfig
  readonly #redirectUri: string
  #discovered: Promise<oidc.Configuration> | undefined

  constructor(issuer: URL, clientId: string, config: SsoConfig) {
    this.#issuer = issuer
    this.#clientId = clientId
    this.#config = config
    this.#redirectUri = `${config.publicUrl}/auth/sso/callback`
    this.name = config.ssoName
    this.rules = groupRules(config.ssoRoles ?? [])
  }

  /** Where the browser signs in. Throws `unavailable` while the provider does not answer. */
  async begin(): Promise<{ url: string; flow: SsoFlow }> {
    const flow = {
      state: oidc.randomState(),
      nonce: oidc.randomNonce(),
      verifier: oidc.randomPKCECodeVerifier(),
    }
    const url = oidc.buildAuthorizationUrl(await this.#provider(), {
      redirect_uri: this.#redirectUri,
      scope: this.#config.ssoScopes,
      state: flow.state,
      nonce: flow.nonce,
      code_challenge: await oidc.calculatePKCECodeChallenge(flow.verifier),
      code_challenge_method: 'S256',
    })
    return { url: url.href, flow }
  }

  /** Checks the answer that the browser brought back. Throws `sso_failed`; its cause is for the log. */
  async finish(query: Readonly<Record<string, string | undefined>>, flow: SsoFlow): Promise<SsoPerson> {
    const provider = await this.#provider()
    const answer = new URL(this.#redirectUri)
    for (const [name, value] of Object.entries(query)) if (value !== undefined) answer.searchParams.set(name, value)
    try {
      const tokens = await oidc.authorizationCodeGrant(provider, answer, {
        expectedState: flow.state,
        expectedNonce: flow.nonce,
        pkceCodeVerifier: flow.verifier,
        idTokenExpected: true,
      })
      const claims = tokens.claims()
      if (claims === undefined) throw new Error('The answer has no ID token')
      const more =
        claims.email === undefined && provider.serverMetadata().userinfo_endpoint !== undefined
          ? await oidc.fetchUserInfo(provider, tokens.access_token, claims.sub)
          : {}
      return personOf({ ...more, ...claims }, this.#config.ssoGroupsClaim)
    } catch (cause) {
      throw new PatchbayError('sso_failed', { cause })
    }
  }

  /** What the provider says of itself, read once; a failure is not kept. */
  #provider(): Promise<oidc.Configuration> {
    const secret = this.#config.ssoClientSecret
    const execute = this.#issuer.protocol === 'http:' ? [oidc.allowInsecureRequests] : []
    const options = { execute, timeout: TIMEOUT_S }
    const method = secret === undefined ? oidc.None() : undefined
    this.#discovered ??= oidc
      .discovery(this.#issuer, this.#clientId, secret, method, options)
      .catch((cause: unknown) => {
        this.#discovered = undefined
        throw new PatchbayError('unavailable', { cause })
      })
    return this.#discovered
  }
}

function personOf(
  claims: Readonly<Record<string, unknown>> & { iss: string; sub: string },
  groupsClaim: string,
): SsoPerson {
  const text = (name: string): string =>
    typeof claims[name] === 'string' ? cleanText(claims[name], MAX_CLAIM_CHARS).trim() : ''
  const listed = claims[groupsClaim]
  const groups = (Array.isArray(listed) ? listed : [listed]).filter((one): one is string => typeof one === 'string')
  const email = text('email')
  return {
    issuer: claims.iss,
    subject: claims.sub,
    name: text('name') || text('preferred_username') || email,
    email,
    isEmailVerified: claims.email_verified === true || claims.email_verified === 'true',
    phoneNumber: text('phone_number') || undefined,
    groups: groups.slice(0, MAX_GROUPS),
  }
}
