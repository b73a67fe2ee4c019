import { Type } from 'typebox'
import { PatchbayError } from '../../runtime/lib/errors.ts'
import type { LoadedPlugin } from '../../runtime/plugin/load.ts'
import { checkProvider } from '../../runtime/plugin/provider-health.ts'
import type { KeyValues } from '../../runtime/plugin/stored-keys.ts'
import type { ProviderKey } from '../../store/accounts/provider-keys.ts'
import { removeWorkspaceKeys, setWorkspaceKeys, workspaceKeys } from '../../store/accounts/workspace-keys.ts'
import { operatorQuotas } from '../../store/workspaces/workspace-quotas.ts'
import { requireOwnKeys } from '../quota.ts'
import { defineRoute } from '../route.ts'
import { ValidationError } from '../schema.ts'
import type { Services } from '../services.ts'
import { newValues, pastedKeys } from './pasted-keys.ts'
import { healthBody } from './provider-body.ts'
import {
  healthExample,
  KeysInput,
  type OwnKey,
  OwnKeyBody,
  ownKeyExample,
  ownKeysExample,
  ProviderHealthBody,
} from './schema.ts'

/** Keys of a workspace's own accounts at providers: its agents use them before those of the installation. */

const common = { auth: 'jwt', role: 'admin', tag: 'Providers' } as const
const params = { provider: { description: 'The provider, as agents name it.', example: 'deepgram' } } as const

const list = defineRoute({
  ...common,
  method: 'GET',
  path: '/providers/keys',
  success: { status: 200, schema: Type.Object({ allowed: Type.Boolean(), providers: Type.Array(OwnKeyBody) }) },
  summary: 'The providers that take a key of the workspace, and whose account serves it',
  description: '`allowed`: the operator lets the workspace use keys of its own.',
  examples: { success: { allowed: true, providers: [ownKeyExample] } },
  handler: async ({ tenant }, services) => {
    const [{ own_keys: allowed }, stored] = await Promise.all([
      operatorQuotas(services.store, tenant.workspaceId),
      workspaceKeys(tenant),
    ])
    return { allowed, providers: takingOwn(services).map((plugin) => ownKey(plugin, stored, services, allowed)) }
  },
})

const set = defineRoute({
  ...common,
  method: 'PUT',
  path: '/providers/{provider}/keys',
  params,
  body: KeysInput,
  success: { status: 200, schema: OwnKeyBody },
  errors: ['provider_not_found', 'own_keys_refused'],
  summary: 'Set the key of the workspace’s own account at a provider',
  description:
    'Its agents use it from their next call or message on, before the operator’s, and the provider bills that account. It is stored sealed under `PATCHBAY_DATA_KEY` and never shown again. All variables of the provider are needed: nothing is taken from another account. A key that the provider refuses is not kept.',
  examples: { body: ownKeysExample, success: ownKeyExample },
  handler: async ({ params: { provider }, body, tenant, user }, services) => {
    await requireOwnKeys(services, tenant)
    const plugin = requireTaking(services, provider)
    const values = requireKeys(services, plugin, body.keys)
    const { state, message } = await checkProvider(services.plugins, plugin.name, { own: values })
    if (state === 'refused') {
      const [variable = ''] = services.plugins.keys.ownVariablesOf(plugin.name)
      throw new ValidationError([
        { loc: ['body', 'keys', variable], msg: message ?? 'is refused by the provider', type: 'value_error' },
      ])
    }
    const { providerKeys } = services
    await setWorkspaceKeys(tenant, {
      provider: plugin.name,
      setBy: user.id,
      values: newValues(providerKeys, values),
    })
    await providerKeys.changed()
    return ownKey(plugin, await workspaceKeys(tenant), services, true)
  },
})

const test = defineRoute({
  ...common,
  method: 'POST',
  path: '/providers/{provider}/test',
  params,
  body: KeysInput,
  success: { status: 200, schema: ProviderHealthBody },
  errors: ['provider_not_found', 'own_keys_refused'],
  summary: 'Ask a provider whether it takes a key of the workspace, without keeping the key',
  description: 'The request to the provider costs nothing.',
  examples: { body: ownKeysExample, success: healthExample },
  handler: async ({ params: { provider }, body, tenant }, services) => {
    await requireOwnKeys(services, tenant)
    const plugin = requireTaking(services, provider)
    const own = requireKeys(services, plugin, body.keys)
    return healthBody(await checkProvider(services.plugins, plugin.name, { own }))
  },
})

const remove = defineRoute({
  ...common,
  method: 'DELETE',
  path: '/providers/{provider}/keys',
  params,
  success: { status: 200, schema: OwnKeyBody },
  errors: ['provider_not_found'],
  summary: 'Remove the key of the workspace’s own account; its agents use the operator’s again, where they may',
  examples: {
    success: {
      ...ownKeyExample,
      variables: [{ variable: 'DEEPGRAM_API_KEY', hint: null }],
      ...{ account: 'installation', set_at: null },
    },
  },
  handler: async ({ params: { provider }, tenant }, services) => {
    const plugin = requireTaking(services, provider)
    if (await removeWorkspaceKeys(tenant, plugin.name)) await services.providerKeys.changed()
    return ownKey(plugin, [], services, true)
  },
})

export const ownKeyRoutes = [list, set, test, remove]

function takingOwn({ plugins }: Services): LoadedPlugin[] {
  return plugins.plugins.filter(({ name }) => plugins.keys.ownVariablesOf(name).length > 0)
}

function requireTaking(services: Services, name: string): LoadedPlugin {
  const plugin = takingOwn(services).find((one) => one.name === name)
  if (plugin === undefined) throw new PatchbayError('provider_not_found')
  return plugin
}

/** All values of an account. Throws ValidationError. */
function requireKeys({ plugins }: Services, { name }: LoadedPlugin, given: KeyValues): KeyValues {
  const known = plugins.keys.ownVariablesOf(name)
  const values = pastedKeys(given, known)
  const missing = known.filter((variable) => values[variable] === undefined)
  if (missing.length === 0) return values
  const msg = 'is missing: the account is described by all variables of the provider'
  throw new ValidationError(missing.map((variable) => ({ loc: ['body', 'keys', variable], msg, type: 'value_error' })))
}

function ownKey(
  { name, manifest }: LoadedPlugin,
  stored: readonly ProviderKey[],
  { plugins }: Services,
  allowed: boolean,
): OwnKey {
  const rows = stored.filter(({ provider }) => provider === name)
  const operators = plugins.missingKey(name) === undefined ? 'installation' : null
  return {
    provider: name,
    title: plugins.titleOf(name),
    kinds: Object.keys(manifest?.provides ?? {}),
    variables: plugins.keys.ownVariablesOf(name).map((variable) => {
      return { variable, hint: rows.find((row) => row.variable === variable)?.hint || null }
    }),
    account: rows.length > 0 && allowed ? 'workspace' : operators,
    set_at: rows[0]?.set_at.toISOString() ?? null,
  }
}
