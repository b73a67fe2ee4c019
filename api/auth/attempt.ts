import type { ApiRequest } from '../route.ts'
import type { AttemptKind, LoginAttempt } from './login-throttle.ts'

export function attemptOf(
  { clientAddress, id }: Pick<ApiRequest, 'clientAddress' | 'id'>,
  kind: AttemptKind,
  account: string,
): LoginAttempt {
  return { kind, account, address: clientAddress, requestId: id }
}
