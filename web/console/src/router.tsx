import { createRootRoute, createRoute, createRouter, lazyRouteComponent } from '@tanstack/react-router'
import { Home } from './screens/home.tsx'
import { Broken, NotFound, Shell } from './shell.tsx'

/** Every screen by its address. What follows the question mark is what a list shows; it holds no words of callers. */

const root = createRootRoute({ component: Shell, notFoundComponent: NotFound })

type Search = Record<string, string | number | boolean | undefined>
const validateSearch = (search: Record<string, unknown>): Search =>
  Object.fromEntries(
    Object.entries(search).filter((entry): entry is [string, string | number | boolean] =>
      ['string', 'number', 'boolean'].includes(typeof entry[1]),
    ),
  )

const screen = <const P extends string>(path: P, load: () => Promise<{ Screen: () => React.ReactNode }>) =>
  createRoute({ getParentRoute: () => root, path, component: lazyRouteComponent(load, 'Screen'), validateSearch })

const routes = [
  createRoute({ getParentRoute: () => root, path: '/', component: Home, validateSearch }),
  screen('/agents', () => import('./screens/agents.tsx')),
  screen('/agents/$agentId', () => import('./screens/agent/agent.tsx')),
  screen('/tests', () => import('./screens/tests/tests.tsx')),
  screen('/tests/runs/$runId', () => import('./screens/tests/test-run.tsx')),
  screen('/calls', () => import('./screens/calls/calls.tsx')),
  screen('/calls/$callId', () => import('./screens/call/call.tsx')),
  screen('/chats', () => import('./screens/chats.tsx')),
  screen('/live', () => import('./screens/live/live.tsx')),
  screen('/campaigns', () => import('./screens/campaigns.tsx')),
  screen('/campaigns/$slug', () => import('./screens/campaign/campaign.tsx')),
  screen('/batches', () => import('./screens/batches.tsx')),
  screen('/batches/$batchId', () =>
    import('./screens/batches.tsx').then(({ BatchScreen }) => ({ Screen: BatchScreen })),
  ),
  screen('/numbers', () => import('./screens/numbers/numbers.tsx')),
  screen('/numbers/trunks/$trunkId', () => import('./screens/trunk/trunk.tsx')),
  screen('/knowledge', () => import('./screens/knowledge.tsx')),
  screen('/reports', () => import('./screens/reports.tsx')),
  screen('/providers', () => import('./screens/providers.tsx')),
  screen('/operator', () => import('./screens/operator/operator.tsx')),
  screen('/developers', () => import('./screens/developers/developers.tsx')),
  screen('/developers/webhooks/$webhookId', () => import('./screens/developers/webhook.tsx')),
  screen('/account', () => import('./screens/account.tsx')),
  screen('/workspace', () => import('./screens/workspace/workspace.tsx')),
]

export const router = createRouter({
  routeTree: root.addChildren(routes),
  basepath: '/console',
  defaultPreload: 'intent',
  defaultErrorComponent: Broken,
  scrollRestoration: true,
})

declare module '@tanstack/react-router' {
  interface Register {
    router: typeof router
  }
}
