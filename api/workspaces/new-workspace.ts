import type { User } from '../../store/database/schema.ts'
import { limitedQuotas, type OperatorQuotas } from '../../store/workspaces/workspace-quotas.ts'
import type { Services } from '../services.ts'

const ALL = '*'

/** What a workspace that this user makes may use at first; undefined: everything, as an operator makes it. */
export function quotasOfNewWorkspace(
  { config, plugins, operators }: Pick<Services, 'config' | 'plugins' | 'operators'>,
  by: User | { readonly email: string },
): OperatorQuotas | undefined {
  if ('id' in by ? operators.includes(by) : operators.names(by.email)) return undefined
  const named = config.newWorkspaceProviders
  if (named === undefined) {
    const all = Object.values(plugins.catalogue).flatMap((kind) => [...kind.keys()])
    return limitedQuotas([...new Set(all)].filter((provider) => !plugins.needsKey(provider)).sort())
  }
  return limitedQuotas(named.includes(ALL) ? null : named)
}
