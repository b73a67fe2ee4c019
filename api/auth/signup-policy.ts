import { isLoopbackHost, isOwnHost } from '../../runtime/lib/client-address.ts'
import { PatchbayError } from '../../runtime/lib/errors.ts'
import { hasUsers, signupSetting } from '../../store/accounts/instance.ts'
import type { SignupMode } from '../../store/database/schema.ts'
import type { ApiRequest } from '../route.ts'
import type { Services } from '../services.ts'
import { isSetupToken } from './setup-token.ts'

const PROXY_HEADERS = ['x-forwarded-for', 'forwarded', 'x-real-ip', 'via'] as const

/**
 * Headers that tell whether a request comes from this very machine: those of proxies, beside X-Forwarded-For, and the name it
 * was sent to, which a page that has its own name lead to this machine, or a tunnel to it, doesn't change.
 */
export const ORIGIN_HEADERS = [...PROXY_HEADERS, 'host'] as const

/** `local`: open for requests from this very machine; the first user comes from there, or shows the setup token. */
export type EffectiveSignup = SignupMode | 'local'

/** The operator's setting, else the configuration's, else `local`, or `invitation` where the installation serves others. */
export async function effectiveSignup({ store, config }: Pick<Services, 'store' | 'config'>): Promise<EffectiveSignup> {
  const chosen = (await signupSetting(store)) ?? (config.signup as SignupMode | undefined)
  return chosen ?? (servesThisMachine(config) ? 'local' : 'invitation')
}

/**
 * With another public address a forwarder stands in front: a TCP one, or a proxy that writes its own Host and no header of proxies,
 * makes every client look local.
 */
function servesThisMachine({ publicUrl }: Pick<Services['config'], 'publicUrl'>): boolean {
  return isLoopbackHost(new URL(publicUrl).host)
}

/** Whether a request comes from this very machine. The route lists ORIGIN_HEADERS. */
export function isFromHere(
  request: Pick<ApiRequest, 'isLocal' | 'header'>,
  { config }: Pick<Services, 'config'>,
): boolean {
  return (
    servesThisMachine(config) &&
    request.isLocal &&
    isOwnHost(request.header('host')) &&
    PROXY_HEADERS.every((name) => request.header(name) === '')
  )
}

/** A person without an invitation who wants to sign up. */
export interface Newcomer {
  email: string
  isLocal: boolean
  setupToken?: string | undefined
}

/** Whether the client may sign up without invitation and setup token. */
export async function maySignUp(services: Services, { email, isLocal }: Newcomer): Promise<boolean> {
  // An address that makes an operator is taken from this machine alone: anybody could write it into the form.
  if (services.operators.names(email) && !isLocal) return false
  const mode = await effectiveSignup(services)
  return mode === 'open' || (mode === 'local' && isLocal)
}

/**
 * Resolves with whether they showed that the installation is theirs, by the setup token. Throws what keeps them out:
 * `setup_token_wrong`, `setup_token_missing` while there is no user, `signup_closed`.
 */
export async function requireSignup(services: Services, newcomer: Newcomer): Promise<boolean> {
  const { store, config } = services
  const { setupToken = '' } = newcomer
  if (setupToken !== '' && !(await hasUsers(store))) {
    if (isSetupToken(config.jwtApiSecret, setupToken)) return true
    throw new PatchbayError('setup_token_wrong')
  }
  if (await maySignUp(services, newcomer)) return false
  throw new PatchbayError((await hasUsers(store)) ? 'signup_closed' : 'setup_token_missing')
}
