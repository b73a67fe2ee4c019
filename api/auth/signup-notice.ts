import { isLoopbackHost } from '../../runtime/lib/client-address.ts'
import { hasUsers } from '../../store/accounts/instance.ts'
import type { Services } from '../services.ts'
import { setupLink } from './setup-token.ts'
import { type EffectiveSignup, effectiveSignup } from './signup-policy.ts'

const NOTICES: Readonly<Record<EffectiveSignup, string>> = {
  open: 'Everybody who reaches it may sign up (PATCHBAY_SIGNUP)',
  invitation: 'Who has an invitation may sign up: npm run patchbay admin invite <email>',
  closed: 'Nobody may sign up without an invitation: npm run patchbay admin invite <email>',
  local: 'Signup is open on this machine alone',
}

/** Who may sign up, for the installation's operator; while it has no user, in its log too, how the first one comes in. */
export async function signupNotice(services: Pick<Services, 'store' | 'config' | 'log'>): Promise<string> {
  const { store, config, log } = services
  const mode = await effectiveSignup(services)
  const notice = NOTICES[mode]
  if (await hasUsers(store)) return notice
  const url = setupLink(config.publicUrl, config.jwtApiSecret)
  const isLocal = isLoopbackHost(new URL(config.publicUrl).host)
  if (isLocal)
    log.info({ url }, 'There is no user yet: the first one signs up on this machine, or by this link from another')
  else log.info({ url }, 'There is no user yet: the first one signs up by this link')
  const where = isLocal ? 'here, or from another machine by' : 'by'
  return `${notice}; the first user, who runs the installation, signs up ${where}\n  ${url}`
}
