import { Type } from 'typebox'
import { PatchbayError } from '../../runtime/lib/errors.ts'
import type { LoadedPlugin } from '../../runtime/plugin/load.ts'
import { checkProvider } from '../../runtime/plugin/provider-health.ts'
import type { KeyValues } from '../../runtime/plugin/stored-keys.ts'
import {
  allProviderKeys,
  type ProviderKey,
  removeProviderKeys,
  setProviderKeys,
} from '../../store/accounts/provider-keys.ts'
import { defineRoute } from '../route.ts'
import type { Services } from '../services.ts'
import { newValues, pastedKeys } from './pasted-keys.ts'
import { healthBody } from './provider-body.ts'
import {
  healthExample,
  type KeyedProvider,
  KeyedProviderBody,
  KeysInput,
  keyedProviderExample,
  keysExample,
  ProviderHealthBody,
} from './schema.ts'

/** Keys of providers and carriers that an operator pastes: used at once, sealed in the database, shown never again. */

const common = { auth: 'jwt', role: 'operator', tag: 'Operator' } as const

/** A provider that has not answered by then is reported as `not_asked`. */
const HEALTH_WAIT_MS = 8_000
/** As above, in the list. */
const LIST_WAIT_MS = 2_000
const provider = { description: 'The provider, as agents and numbers name it.', example: 'twilio' } as const

const list = defineRoute({
  ...common,
  method: 'GET',
  path: '/operator/providers',
  success: { status: 200, schema: Type.Object({ providers: Type.Array(KeyedProviderBody) }) },
  summary: 'The providers and carriers that take a key, and where each key comes from',
  examples: { success: { providers: [keyedProviderExample] } },
  handler: async (_, services) => {
    const stored = await allProviderKeys(services.store)
    const ofEach = takingKeys(services).map((plugin) => keyedProvider(plugin, stored, services, LIST_WAIT_MS))
    return { providers: await Promise.all(ofEach) }
  },
})

const set = defineRoute({
  ...common,
  method: 'PUT',
  path: '/operator/providers/{provider}/keys',
  params: { provider },
  body: KeysInput,
  success: { status: 200, schema: KeyedProviderBody },
  errors: ['provider_not_found'],
  summary: 'Set the key of a provider or carrier; every process uses it at once',
  description:
    'Stored sealed under `PATCHBAY_DATA_KEY` and never shown again. The provider is asked whether it takes the key; `health` has what it says. Variables that are left out keep their values.',
  examples: { body: keysExample, success: keyedProviderExample },
  handler: async ({ params, body, user }, services) => {
    const plugin = requireTaking(services, params.provider)
    const values = requireKeys(services, plugin, body.keys)
    const { store, providerKeys } = services
    await setProviderKeys(store, {
      provider: plugin.name,
      setBy: user.id,
      values: newValues(providerKeys, values),
    })
    await providerKeys.changed()
    return keyedProvider(plugin, await allProviderKeys(store), services, HEALTH_WAIT_MS)
  },
})

const test = defineRoute({
  ...common,
  method: 'POST',
  path: '/operator/providers/{provider}/test',
  params: { provider },
  body: KeysInput,
  success: { status: 200, schema: ProviderHealthBody },
  errors: ['provider_not_found'],
  summary: 'Ask a provider whether it takes a key, without keeping the key',
  description: 'The request to the provider costs nothing. Variables that are left out have the values they have now.',
  examples: { body: keysExample, success: healthExample },
  handler: async ({ params, body }, services) => {
    const plugin = requireTaking(services, params.provider)
    const values = requireKeys(services, plugin, body.keys)
    return healthBody(await checkProvider(services.plugins, plugin.name, { tried: values }))
  },
})

const remove = defineRoute({
  ...common,
  method: 'DELETE',
  path: '/operator/providers/{provider}/keys',
  params: { provider },
  success: { status: 200, schema: KeyedProviderBody },
  errors: ['provider_not_found'],
  summary: 'Remove the stored key of a provider or carrier; what the environment sets stays',
  examples: {
    success: {
      ...keyedProviderExample,
      variables: ['TWILIO_AUTH_TOKEN', 'TWILIO_ACCOUNT_SID'].map((variable) => ({
        ...{ variable, source: null, hint: null, set_at: null },
      })),
      health: { state: 'no_key', latency_ms: null, message: 'TWILIO_AUTH_TOKEN is not set' },
    },
  },
  handler: async ({ params }, services) => {
    const plugin = requireTaking(services, params.provider)
    const { store } = services
    if (await removeProviderKeys(store, plugin.name)) await services.providerKeys.changed()
    return keyedProvider(plugin, await allProviderKeys(store), services, HEALTH_WAIT_MS)
  },
})

export const providerKeyRoutes = [list, set, test, remove]

function takingKeys({ plugins }: Services): LoadedPlugin[] {
  return plugins.plugins.filter(({ name }) => plugins.keys.variablesOf(name).length > 0)
}

function requireTaking(services: Services, name: string): LoadedPlugin {
  const plugin = takingKeys(services).find((one) => one.name === name)
  if (plugin === undefined) throw new PatchbayError('provider_not_found')
  return plugin
}

function requireKeys({ plugins }: Services, { name }: LoadedPlugin, given: KeyValues): KeyValues {
  return pastedKeys(given, plugins.keys.variablesOf(name), (variable) =>
    plugins.keys.sourceOf(name, variable) === 'environment'
      ? 'is set in the environment, which wins; remove it there and restart, then set it here'
      : undefined,
  )
}

async function keyedProvider(
  { name, manifest }: LoadedPlugin,
  stored: readonly ProviderKey[],
  { plugins, providerHealth }: Services,
  waitMs: number,
): Promise<KeyedProvider> {
  return {
    provider: name,
    title: plugins.titleOf(name),
    kinds: Object.keys(manifest?.provides ?? {}),
    variables: plugins.keys.variablesOf(name).map((variable) => {
      const row = stored.find((one) => one.provider === name && one.variable === variable)
      return {
        variable,
        source: plugins.keys.sourceOf(name, variable) ?? null,
        hint: row?.hint || null,
        set_at: row?.set_at.toISOString() ?? null,
      }
    }),
    health: healthBody(await providerHealth.state(name, waitMs)),
  }
}
