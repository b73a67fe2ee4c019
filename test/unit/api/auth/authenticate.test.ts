import t from 'tap'
import { agentRoutes } from '../../../../api/agents/routes.ts'
import { createAccessTokens } from '../../../../api/auth/access-token.ts'
import { createAuthenticator } from '../../../../api/auth/authenticate.ts'
import { systemClock } from '../../../../runtime/lib/clock.ts'
import { startTestApi } from '../../../support/instance/api.ts'

t.test('a key is as good as a Developer, never an Admin, wherever a route may come to ask', async (t) => {
  const api = await startTestApi(t)
  const ada = await api.signUp()
  const { body: key } = await ada.client.post('/api-keys', { body: { name: 'CRM' } })
  const tokens = createAccessTokens(api.config.jwtApiSecret, 60, systemClock)
  const { authenticate } = createAuthenticator(api.store, tokens)
  const route = agentRoutes.find(({ method }) => method === 'GET')
  if (route === undefined) throw new Error('No route lists agents')
  const caller = await authenticate({ cookies: '', apiKey: key.key, workspaceId: '', params: {} }, route)
  t.match(caller, {
    user: undefined,
    membership: { workspaceId: ada.workspaceId, role: 'developer' },
    key: { id: key.id },
    refused: false,
  })
})
