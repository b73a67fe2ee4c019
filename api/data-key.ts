import { sql } from 'kysely'
import type { EffectiveConfig } from '../config/schema.ts'
import type { Logger } from '../runtime/log.ts'
import type { SecretBox } from '../runtime/secret-box.ts'
import { webhookSecrets } from '../runtime/webhooks/signature.ts'
import type { Store } from '../store/database.ts'
import { labelOfTools } from './agents/tool-headers.ts'
import { extensionSecrets } from './extensions/book.ts'
import { toolSecrets } from './tools/tool-calls.ts'
import { keyLabel, trunkSecrets } from './trunks/book.ts'

/**
 * What users' secrets are sealed with is a key of its own, apart from the one that signs access tokens and that others may
 * hold. At start everything that is still sealed under an earlier key, or under the token's, is sealed anew, so that the
 * earlier one can be thrown away.
 */

type KeyConfig = Pick<EffectiveConfig, 'dataKey' | 'dataKeyOld' | 'jwtApiSecret'>

/** Several nodes may do it at once: each value is changed only where it is still the one that was read. */
export async function resealAll(store: Store, config: KeyConfig, log: Logger): Promise<{ resealed: number }> {
  const earlier = [...(config.dataKeyOld ?? []), config.jwtApiSecret].filter((key) => key !== config.dataKey)
  let resealed = 0
  for (const reseal of [resealTrunks, resealExtensions, resealTools, resealWebhooks]) {
    resealed += await reseal(store, config.dataKey, earlier, log)
  }
  if (resealed > 0) log.info({ resealed }, 'Secrets were sealed anew under PATCHBAY_DATA_KEY')
  return { resealed }
}

/** The text sealed anew; undefined when it is under the present key already, `null` when no key opens it. */
function resealed(
  sealed: string,
  label: string,
  now: SecretBox,
  before: readonly SecretBox[],
): string | null | undefined {
  if (now.open(sealed, label) !== undefined) return undefined
  for (const box of before) {
    const text = box.open(sealed, label)
    if (text !== undefined) return now.seal(text, label)
  }
  return null
}

async function resealTrunks(store: Store, key: string, earlier: readonly string[], log: Logger): Promise<number> {
  const [now, before] = [trunkSecrets(key), earlier.map(trunkSecrets)]
  const trunks = await store.acrossTenants
    .selectFrom('trunks')
    .select(['id', 'name', 'password', 'tls_key'])
    .where((eb) => eb.or([eb('password', 'is not', null), eb('tls_key', 'is not', null)]))
    .execute()
  let count = 0
  for (const { id, name, ...secrets } of trunks) {
    for (const [column, label] of [
      ['password', id],
      ['tls_key', keyLabel(id)],
    ] as const) {
      const sealed = secrets[column]
      if (sealed === null) continue
      const next = resealed(sealed, label, now, before)
      if (next === null) log.error({ trunk: name, what: column }, UNOPENED)
      if (typeof next !== 'string') continue
      const update = store.acrossTenants
        .updateTable('trunks')
        .set({ [column]: next })
        .where('id', '=', id)
      const { numUpdatedRows } = await update.where(column, '=', sealed).executeTakeFirst()
      count += Number(numUpdatedRows)
    }
  }
  return count
}

async function resealWebhooks(store: Store, key: string, earlier: readonly string[], log: Logger): Promise<number> {
  const [now, before] = [webhookSecrets(key), earlier.map(webhookSecrets)]
  const webhooks = await store.acrossTenants.selectFrom('webhooks').select(['id', 'secret', 'old_secret']).execute()
  let count = 0
  for (const { id, ...secrets } of webhooks) {
    for (const column of ['secret', 'old_secret'] as const) {
      const sealed = secrets[column]
      if (sealed === null) continue
      const next = resealed(sealed, id, now, before)
      if (next === null) log.error({ webhookId: id, what: column }, UNOPENED)
      if (typeof next !== 'string') continue
      const update = store.acrossTenants
        .updateTable('webhooks')
        .set({ [column]: next })
        .where('id', '=', id)
      const { numUpdatedRows } = await update.where(column, '=', sealed).executeTakeFirst()
      count += Number(numUpdatedRows)
    }
  }
  return count
}

async function resealExtensions(store: Store, key: string, earlier: readonly string[], log: Logger): Promise<number> {
  const [now, before] = [extensionSecrets(key), earlier.map(extensionSecrets)]
  const extensions = await store.acrossTenants.selectFrom('extensions').select(['id', 'name', 'password']).execute()
  let count = 0
  for (const { id, name, password } of extensions) {
    const next = resealed(password, id, now, before)
    if (next === null) log.error({ extension: name, what: 'password' }, UNOPENED)
    if (typeof next !== 'string') continue
    const update = store.acrossTenants.updateTable('extensions').set({ password: next }).where('id', '=', id)
    const { numUpdatedRows } = await update.where('password', '=', password).executeTakeFirst()
    count += Number(numUpdatedRows)
  }
  return count
}

interface StoredTool {
  http?: { headers?: Record<string, string> }
  headers?: Record<string, string>
}

async function resealTools(store: Store, key: string, earlier: readonly string[], log: Logger): Promise<number> {
  const [now, before] = [toolSecrets(key), earlier.map(toolSecrets)]
  const agents = await store.acrossTenants
    .selectFrom('agents')
    .select(['id', 'workspace_id', 'agent_name', 'tools'])
    .where(sql<boolean>`tools @? '$[*].http.headers.*' or tools @? '$[*].headers.*'`)
    .execute()
  let count = 0
  for (const { id, workspace_id, agent_name, tools } of agents) {
    let changed = 0
    const next = (tools as StoredTool[]).map((tool) => {
      const { headers: sealedOnes = {} } = tool.http ?? tool
      const headers = Object.entries(sealedOnes).map(([name, sealed]) => {
        const anew = resealed(sealed, labelOfTools(workspace_id), now, before)
        if (anew === null) log.error({ agent: agent_name, agentId: id, header: name }, UNOPENED)
        if (typeof anew === 'string') changed++
        return [name, anew ?? sealed]
      })
      if (headers.length === 0) return tool
      const anew = Object.fromEntries(headers)
      return tool.http === undefined ? { ...tool, headers: anew } : { ...tool, http: { ...tool.http, headers: anew } }
    })
    if (changed === 0) continue
    const { numUpdatedRows } = await store.acrossTenants
      .updateTable('agents')
      .set({ tools: JSON.stringify(next) })
      .where('id', '=', id)
      .where('tools', '=', sql<never>`${JSON.stringify(tools)}::jsonb`)
      .executeTakeFirst()
    count += Number(numUpdatedRows) * changed
  }
  return count
}

const UNOPENED =
  'A secret was sealed under a key that is neither PATCHBAY_DATA_KEY nor one of PATCHBAY_DATA_KEY_OLD; name that key there, or set the secret again'
