import { ALL_COUNTRIES } from '../../runtime/dialing/dial-policy.ts'
import type { DialRules } from '../../runtime/plugin-sdk/telephony/carrier.ts'
import { NUMBER_TYPES, type NumberType } from '../../runtime/plugin-sdk/telephony/trunk-settings.ts'
import type { Store } from '../database/database.ts'

const KNOWN: ReadonlySet<string> = new Set(NUMBER_TYPES)

/** The destinations the operator and the workspace itself allow. None for a deleted workspace. */
export async function dialRulesOf(store: Store, workspaceId: string): Promise<DialRules> {
  const row = await store.global
    .selectFrom('workspaces as w')
    .leftJoin('workspace_quotas as q', 'q.workspace_id', 'w.id')
    .select(['w.dial_countries as countries', 'w.dial_number_types as numberTypes'])
    .select(['q.workspace_id as limited', 'q.dial_countries', 'q.dial_number_types'])
    .where('w.id', '=', workspaceId)
    .where('w.deleted_at', 'is', null)
    .executeTakeFirst()
  if (row === undefined) return NOBODY
  const { countries, numberTypes, limited } = row
  return {
    operator: {
      countries: limited === null ? [ALL_COUNTRIES] : row.dial_countries,
      numberTypes: typesOf(row.dial_number_types),
    },
    workspace: { countries, numberTypes: typesOf(numberTypes) },
  }
}

const NOBODY: DialRules = {
  operator: { countries: [], numberTypes: [] },
  workspace: { countries: [], numberTypes: [] },
}

function typesOf(names: readonly string[] | null): NumberType[] | null {
  return names === null ? null : names.filter((name): name is NumberType => KNOWN.has(name))
}
