import { SPEECH_KINDS } from '../../runtime/plugin/default-providers.ts'
import { usableProviders } from '../../store/workspaces/workspace-quotas.ts'
import { defineRoute } from '../route.ts'
import { providerBody } from './provider-body.ts'
import { ProvidersBody, providersExample } from './schema.ts'

const providers = defineRoute({
  method: 'GET',
  path: '/providers',
  auth: 'jwt_or_key',
  role: 'member',
  isPacked: true,
  success: { status: 200, schema: ProvidersBody },
  tag: 'Providers',
  summary: 'Who agents can think, listen and speak with',
  description:
    'Models, voices, prices and health of every provider of language models and speech, those that are not set up included.',
  examples: { success: providersExample },
  handler: async ({ tenant, user }, services) => {
    const seer = {
      allowed: await usableProviders(services.store, tenant.workspaceId),
      isOperator: services.operators.includes(user),
      own: services.plugins.keys.of(tenant.workspaceId),
    }
    const plugins = services.plugins.plugins.filter(
      ({ manifest }) => manifest === undefined || SPEECH_KINDS.some((kind) => manifest.provides[kind]),
    )
    return { providers: await Promise.all(plugins.map((plugin) => providerBody(services, plugin, seer))) }
  },
})

export const providerRoutes = [providers]
