import type { Static } from 'typebox'
import type { ProviderBody } from '../../../../api/providers/schema.ts'
import { useRead } from './queries.ts'

export type Provider = Static<typeof ProviderBody>

/** Who agents can listen, think and speak with, and how each stands. */
export function useProviders(everyMs?: number) {
  return useRead<{ providers: Provider[] }>('/providers', everyMs === undefined ? {} : { everyMs })
}
