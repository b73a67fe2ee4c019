import { hasUsers, signupSetting } from '../../store/instance.ts'
import type { SignupMode } from '../../store/schema.ts'
import type { Services } from '../services.ts'

/** Headers that say a request came by a proxy, beside X-Forwarded-For. */
export const FORWARDED = ['forwarded', 'x-real-ip', 'via'] as const

/** `local`: open for requests from this very machine, and for everybody until there is a user. */
export type EffectiveSignup = SignupMode | 'local'

/** The operator's setting, else the configuration's, else `local`. */
export async function effectiveSignup({ store, config }: Pick<Services, 'store' | 'config'>): Promise<EffectiveSignup> {
  return (await signupSetting(store)) ?? (config.signup as SignupMode | undefined) ?? 'local'
}

/**
 * Whether somebody without an invitation may sign up. An address that makes an operator is taken from this machine alone:
 * anybody could write it into the form.
 */
export async function maySignUp(services: Services, request: { email: string; isLocal: boolean }): Promise<boolean> {
  const { store, operators } = services
  if (operators.names(request.email) && !request.isLocal) return false
  const mode = await effectiveSignup(services)
  if (mode === 'open') return true
  return mode === 'local' && (request.isLocal || !(await hasUsers(store)))
}
