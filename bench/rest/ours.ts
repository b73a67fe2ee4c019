/** Patchbay's own request path and routes, in a process of its own. Arguments: the database. */

import { createAccessTokens } from '../../api/auth/access-token.ts'
import { type Caller, createAuthenticator } from '../../api/auth/authenticate.ts'
import { authRoutes } from '../../api/auth/routes.ts'
import { callRoutes } from '../../api/calls/routes.ts'
import { errorReply, requestIdOf, standingHeaders } from '../../api/http/reply.ts'
import { startServer } from '../../api/http/server.ts'
import { reportRoutes } from '../../api/reports/routes.ts'
import { createRequestPath } from '../../api/request.ts'
import { defineRoute } from '../../api/route.ts'
import type { Services } from '../../api/services.ts'
import { systemClock } from '../../runtime/lib/clock.ts'
import { createLogger } from '../../runtime/process/log.ts'
import { openStore } from '../../store/database/database.ts'
import type { User } from '../../store/database/schema.ts'
import { AgentInput, AgentOutput, answerTo, PATH_WITHOUT_DATABASE, SECRET, serveParent, userOf } from './work.ts'

const withoutDatabase = defineRoute({
  method: 'POST',
  path: PATH_WITHOUT_DATABASE,
  auth: 'jwt',
  role: 'none',
  body: AgentInput,
  success: { status: 200, schema: AgentOutput },
  tag: 'Bench',
  // What is asked for without a database leaves no trace in one.
  audit: false,
  summary: 'Authentication, validation and JSON',
  handler: ({ body, user }) => answerTo(body, user.id),
})

function callerOf({ sub }: { sub: string }): Caller {
  const user = { id: sub } as User
  return { user, membership: undefined, key: undefined, sessionId: undefined, issuedAtS: 0, refused: false }
}

const store = openStore({ databaseUrl: process.argv[2] ?? '' })
const log = createLogger({ level: 'warn', name: 'bench' })
const known = createAuthenticator(store, createAccessTokens(SECRET, 3600, systemClock))
const server = await startServer({
  host: '127.0.0.1',
  port: 0,
  handle: createRequestPath({
    routes: [withoutDatabase, ...authRoutes, ...callRoutes, ...reportRoutes],
    services: { store, clock: systemClock, log, config: { publicUrl: 'http://localhost' } } as unknown as Services,
    authenticator: {
      authenticate: (credentials, route) => {
        if (route !== withoutDatabase) return known.authenticate(credentials, route)
        const claims = userOf(credentials.cookies)
        return claims instanceof Promise ? claims.then(callerOf) : callerOf(claims)
      },
    },
    log,
    observe: () => {},
    requestLog: { note: () => {} },
  }),
  webSockets: [],
  refuse: (error, request) => errorReply(error, request.requestId, log),
  requestId: requestIdOf,
  headers: standingHeaders('http://localhost'),
})
serveParent(server.port)
