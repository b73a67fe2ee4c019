import type { ApiRequest } from '../route.ts'
import type { Attempt, AttemptKind } from './login-throttle.ts'

export function attemptOf(
  { clientAddress, id }: Pick<ApiRequest, 'clientAddress' | 'id'>,
  kind: AttemptKind,
  account: string,
): Attempt {
  return { kind, account, address: clientAddress, requestId: id }
}
