import { inBackground } from '../runtime/lib/async/boundary.ts'
import { trustedProxies } from '../runtime/lib/client-address.ts'
import { openMailer } from '../runtime/process/mail.ts'
import type { ResourceStack } from '../runtime/process/resource-stack.ts'
import { storeFaults } from '../store/connections/readiness.ts'
import { createAccessTokens } from './auth/access-token.ts'
import { createAuthenticator } from './auth/authenticate.ts'
import { createLoginThrottle } from './auth/login-throttle.ts'
import { SecurityLog } from './auth/security-log.ts'
import { openIdentityProvider } from './auth/sso/identity-provider.ts'
import { openConsole } from './console/console.ts'
import { errorReply, requestIdOf, standingHeaders } from './http/reply.ts'
import { startServer } from './http/server.ts'
import { observeAnswers } from './metrics.ts'
import type { Infrastructure } from './open-infrastructure.ts'
import type { OpenedSessions } from './open-sessions.ts'
import { workloadOf } from './reports/workload.ts'
import { createRequestPath } from './request.ts'
import { routes } from './routes.ts'
import type { AuthServices, Services, TelephonyServices } from './services.ts'
import { listenRoute } from './supervision/socket.ts'
import { readinessOf } from './system/readiness.ts'
import { streamRoutes } from './telephony/web.ts'

interface OpenedHttp {
  readonly services: Services
  /** It really listens on. */
  readonly port: number
}

/** Opens the server: REST, the console, the legs, the link, the carriers' media streams. */
export async function openHttp(
  parts: Infrastructure & TelephonyServices & OpenedSessions,
  opened: ResourceStack,
): Promise<OpenedHttp> {
  const { config, address, store, redis, sessions, carriers, standing, clock, log } = parts
  const auth = await openAuth(parts, opened)
  const servesConsole = parts.consoleFolder && openConsole(parts.consoleFolder, log)
  const server = await startServer({
    host: config.host,
    port: config.port,
    // No request can come before this turn of the event loop is over.
    handle: (incoming) => (servesConsole?.(incoming) ? undefined : handle(incoming)),
    webSockets: [
      ...sessions.routes,
      listenRoute({
        ...{ redis, standing, clock, log },
        switchboard: () => parts.switchboard,
        calls: parts.live.calls,
        webrtc: sessions.webrtc,
      }),
      ...streamRoutes({ plugins: parts.plugins, carriers, isTrustedProxy: auth.isTrustedProxy }),
    ],
    refuse: (error, request) => errorReply(error, request.requestId, log),
    requestId: requestIdOf,
    headers: standingHeaders(config.publicUrl),
  })
  opened.push((graceMs) => server.close(graceMs))
  // A stream has no end of its own that the server could wait for.
  opened.push(() => parts.live.stop())
  address.publicUrl = withPort(config.publicUrl, config.port, server.port)
  const stores = storeFaults(store, redis, clock)
  const services: Services = {
    ...parts,
    ...auth,
    config: { ...config, ...address },
    stores,
    readiness: readinessOf({ stores, sessions }),
    workload: workloadOf({ redis, config, clock, log }),
    handle: (incoming) => handle(incoming),
  }
  const handle = createRequestPath({
    ...{ routes, services, log, requestLog: parts.requestLog },
    authenticator: createAuthenticator(store, auth.accessTokens),
    observe: observeAnswers(parts.registry),
    requests: parts.traces?.requests,
  })
  return { services, port: server.port }
}

async function openAuth(
  { config, store, redis, clock, log }: Infrastructure,
  opened: ResourceStack,
): Promise<AuthServices> {
  const security = new SecurityLog({ store, clock, log })
  const mailer = config.smtpUrl === undefined ? undefined : await openMailer(config.smtpUrl, config.mailFrom)
  opened.push(() => mailer?.close())
  return {
    accessTokens: createAccessTokens(config.jwtApiSecret, config.accessTokenTtlS, clock, config.jwtApiSecretVerify),
    isTrustedProxy: trustedProxies(config.trustedProxies ?? []),
    throttle: createLoginThrottle(redis, ({ kind, address, requestId }) => {
      const event = { kind: 'locked_out', userId: null, account: '', detail: { attempts_at: kind } } as const
      inBackground('http', security.note({ clientAddress: address, id: requestId }, event))
    }),
    security,
    mailer,
    identityProvider: openIdentityProvider(config),
  }
}

/** The public address with the port that was really opened, where any free one was asked for. */
function withPort(publicUrl: string, asked: number, port: number): string {
  if (asked !== 0) return publicUrl
  const url = new URL(publicUrl)
  if (url.port === '0') url.port = String(port)
  return url.href.replace(/\/$/, '')
}
