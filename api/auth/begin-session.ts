import { startSession } from '../../store/accounts/sessions.ts'
import type { User } from '../../store/database/schema.ts'
import type { ApiRequest } from '../route.ts'
import type { Services } from '../services.ts'
import { accessCookie, refreshCookie } from './cookies.ts'

/** Starts a session of the user and writes it into the security log. Returns its cookies. The route lists `user-agent`. */
export async function beginSession(
  request: Pick<ApiRequest, 'clientAddress' | 'id' | 'header'>,
  services: Services,
  user: User,
  detail: Readonly<Record<string, unknown>> = {},
) {
  const { store, clock, config, security, accessTokens } = services
  const from = { address: request.clientAddress, userAgent: request.header('user-agent') }
  const session = await startSession(store.global, user.id, from, clock.nowMs(), config.refreshTokenTtlS)
  const whole = { session_id: session.sessionId, ...detail }
  await security.note(request, { kind: 'login', userId: user.id, account: user.email, detail: whole })
  const accessToken = await accessTokens.issue(user, session.sessionId)
  return [accessCookie(services, accessToken), refreshCookie(services, session.token)]
}
