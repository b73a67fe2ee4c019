import t from 'tap'
import { uuidv7 } from 'uuidv7'
import { isUuid } from '../../../../api/ids.ts'
import { type AnyRoute, type Param, scopeOf } from '../../../../api/route.ts'
import { routes } from '../../../../api/routes.ts'
import { ERRORS } from '../../../../runtime/lib/errors.ts'
import { KEY_SCOPES } from '../../../../store/accounts/tables.ts'
import type { KeyScope } from '../../../../store/database/schema.ts'
import { type ApiClient, startTestApi } from '../../../support/instance/api.ts'
import { RIGHTS, rightsOf } from './rights.ts'
import { type Belongings, fingerprint, furnish, inputTo, pathTo, prepare } from './world.ts'

/** Every endpoint asked by every kind of caller. What must come stands in rights.ts, not in the routes. */

const RANKS = { none: 0, member: 1, developer: 2, admin: 3 } as const
type Role = 'member' | 'developer' | 'admin'

const INVALID = [401, 'Invalid or missing token']
const FOREIGN = [403, 'Not a member of this workspace']

/** Why this role may not call the route; undefined when it may. */
function refusalOf(route: AnyRoute, role: Role): (string | number)[] | undefined {
  const { role: least, isOperators } = rightsOf(route)
  if (isOperators) return [403, 'Operator access required']
  if (RANKS[role] >= RANKS[least]) return undefined
  return [403, least === 'admin' ? 'Admin access required' : 'Insufficient permissions']
}

/** A secured route of one workspace. The others belong to the user or to nobody. */
const isSecured = (route: AnyRoute) => !rightsOf(route).isOpen
const isOfWorkspace = (route: AnyRoute) => rightsOf(route).role !== 'none'
/** Whether the path names something that belongs to a workspace. */
const namesSomething = (route: AnyRoute) => isOfWorkspace(route) && /\{(?!provider\})/.test(route.path)

t.test('the routes declare the rights that are written out, and every right is of a route', async (t) => {
  for (const route of routes) {
    const { role, scope, isOpen, isOperators } = rightsOf(route)
    t.same(
      { role: route.role, scope: scopeOf(route), isOpen: route.auth === 'none' },
      { role: isOperators ? 'operator' : role, scope, isOpen },
      `${route.method} ${route.path}`,
    )
  }
  t.same(Object.keys(RIGHTS).sort(), routes.map(({ method, path }) => `${method} ${path}`).sort())
})

t.test('every endpoint, asked by everyone', { timeout: 800_000 }, async (t) => {
  const api = await startTestApi(t)
  const [ada, eve, doomed] = [await api.signUp(), await api.signUp('Eve'), await api.signUp()]
  const theirs = await furnish(api, ada)
  const evesOwn = await furnish(api, eve)
  const gone = await furnish(api, doomed)
  const callers = {
    member: await api.member(ada, 'member'),
    developer: await api.member(ada, 'developer'),
    admin: await api.member(ada, 'admin'),
    removed: await api.member(ada, 'admin'),
    deleted: await api.member(ada, 'admin'),
  }
  const key = await api.keyClient(ada, [...KEY_SCOPES])
  const keysWithout = new Map<KeyScope | undefined, ApiClient>([[undefined, key]])
  for (const scope of KEY_SCOPES) {
    keysWithout.set(
      scope,
      await api.keyClient(
        ada,
        KEY_SCOPES.filter((other) => other !== scope),
      ),
    )
  }
  const keyWithout = (scope: KeyScope | undefined) => keysWithout.get(scope) ?? key
  const evesKey = await api.keyClient(eve, [...KEY_SCOPES])
  const doomedKey = await api.keyClient(doomed)
  await ada.client.delete(`/workspaces/${ada.workspaceId}/members/${callers.removed.id}`)
  await api.store.pool.query('delete from users where id = $1', [callers.deleted.id])
  await doomed.client.delete(`/workspaces/${doomed.workspaceId}`)

  const ask = async (client: ApiClient, route: AnyRoute, of: Belongings, workspaceId?: string) => {
    const headers: Record<string, string> = workspaceId === undefined ? {} : { 'x-workspace-id': workspaceId }
    const answer = await client.request(route.method, pathTo(route, of), { ...inputTo(route, of), headers })
    return { ...answer, said: [answer.status, answer.body?.detail] }
  }

  /** As the last of them left everything: nothing else happens in between. */
  let left = await fingerprint(api, theirs.workspaceId)
  /** Nothing that happens in here may change a row of Ada's workspace. */
  const harmless = async (name: string, action: () => Promise<void>) => {
    const {
      users: _,
      refresh_tokens: __,
      workspaces: ___,
      sessions: ____,
      audit_log: _____,
      security_log: ______,
      ...rows
    } = left
    await action()
    left = await fingerprint(api, theirs.workspaceId)
    t.match(left, rows, `${name} changes nothing`)
  }

  await t.test('who is nobody, or nobody any more, is refused', async (t) => {
    for (const route of routes.filter(isSecured)) {
      const name = `${route.method} ${route.path}`
      await harmless(name, async () => {
        t.same((await ask(api.client(), route, theirs)).said, INVALID, `${name}: no credentials`)
        const deleted = await ask(callers.deleted.client, route, theirs, theirs.workspaceId)
        t.same(deleted.said, [401, 'User not found'], `${name}: a deleted user`)
        const byDeadKey = await ask(doomedKey, route, gone)
        const { scope } = rightsOf(route)
        const keyRefusal = scope === undefined ? INVALID : [401, 'Invalid API key']
        t.same(byDeadKey.said, keyRefusal, `${name}: a key of a deleted workspace`)
        const byKey = await ask(keyWithout(scope), route, theirs)
        if (route.anyScope === true) t.equal(byKey.status, route.success.status, `${name}: a key without the scope`)
        else {
          t.same(byKey.said, INVALID, `${name}: a key without the scope`)
          t.equal(byKey.headers.get('x-required-scope'), scope ?? null, `${name}: the scope that would do`)
        }
        if (!isOfWorkspace(route)) return
        const removed = await ask(callers.removed.client, route, theirs, theirs.workspaceId)
        t.same(removed.said, FOREIGN, `${name}: a removed user`)
        const ofDeleted = await ask(doomed.client, route, gone, gone.workspaceId)
        t.same(ofDeleted.said, FOREIGN, `${name}: the Admin of a deleted workspace`)
      })
    }
  })

  await t.test('another tenant sees and changes nothing of it', async (t) => {
    const secrets = Object.values(theirs)
    for (const route of routes.filter(isOfWorkspace)) {
      const name = `${route.method} ${route.path}`
      const clients = rightsOf(route).scope === undefined ? [eve.client] : [eve.client, evesKey]
      await harmless(name, async () => {
        for (const client of clients) {
          const entering = await ask(client, route, theirs, theirs.workspaceId)
          t.same(entering.said, FOREIGN, `${name}: by the header`)
          const from = client === evesKey ? undefined : evesOwn.workspaceId
          const guessing = await ask(client, route, theirs, from)
          if (namesSomething(route)) {
            t.match(guessing.status, route.workspace === 'path' ? 403 : 404, `${name}: by the ids in its path`)
          } else {
            t.ok([200, 201, 404].includes(guessing.status), `${name}: by the ids in its input, ${guessing.text}`)
          }
          if (guessing.status < 300) {
            const echoed = JSON.stringify(inputTo(route, theirs))
            const leaked = secrets.filter((secret) => guessing.text.includes(secret) && !echoed.includes(secret))
            t.same(leaked, [], `${name}: tells nothing`)
          }
        }
      })
    }
  })

  await t.test('too low a role is refused and changes nothing', async (t) => {
    for (const route of routes.filter((route) => isOfWorkspace(route) || rightsOf(route).isOperators)) {
      const name = `${route.method} ${route.path}`
      for (const role of ['member', 'developer', 'admin'] as const) {
        const refusal = refusalOf(route, role)
        if (refusal === undefined) continue
        await harmless(name, async () => {
          t.same((await ask(callers[role].client, route, theirs, theirs.workspaceId)).said, refusal, `${name}: ${role}`)
        })
      }
    }
  })

  await t.test('what does not exist is not found, whatever its id looks like', async (t) => {
    for (const route of routes.filter(isOfWorkspace)) {
      for (const [name, { notFound }] of Object.entries((route.params ?? {}) as Record<string, Param>)) {
        if (notFound === undefined) continue
        for (const id of [uuidv7(), 'garbage', '%00', '%']) {
          const path = pathTo({ ...route, path: route.path.replace(`{${name}}`, id) } as AnyRoute, theirs)
          const headers = { 'x-workspace-id': theirs.workspaceId }
          const { status, body } = await ada.client.request(route.method, path, { ...inputTo(route, theirs), headers })
          const isForeign = name === 'workspace_id' && isUuid(id)
          const expected = isForeign ? FOREIGN : [404, ERRORS[notFound].detail]
          t.same([status, body?.detail], expected, `${route.method} ${route.path}: ${name} ${id}`)
        }
      }
    }
  })

  await t.test('those who may, can', async (t) => {
    for (const route of routes.filter(isSecured)) {
      if (ASKS_FOR_MORE.has(`${route.method} ${route.path}`)) continue
      for (const role of ['member', 'developer', 'admin', 'key', 'operator'] as const) {
        const { isOperators } = rightsOf(route)
        if (role === 'operator' ? !isOperators : refusalOf(route, role === 'key' ? 'developer' : role)) continue
        if (role === 'key' && rightsOf(route).scope === undefined) continue
        // A workspace to be deleted or suspended is not the one that everyone works in, and who logs out is nobody's other caller.
        const deletes = route.method === 'DELETE' && route.path === '/workspaces/{workspace_id}'
        const owner = deletes || isOperators ? await api.signUp() : ada
        const client = isOperators
          ? ada.client
          : deletes
            ? owner.client
            : ENDS_ITSELF.has(route.path)
              ? (await api.signUp()).client
              : role === 'key'
                ? key
                : callers[role as Role].client
        // A workspace has 500 webhooks at most: those for the routes before are of no use.
        await api.store.pool.query('delete from webhooks where workspace_id = $1', [owner.workspaceId])
        const own = await furnish(api, owner)
        await prepare(api, route, own)
        const answer = await ask(
          client,
          route,
          own,
          isOperators || ENDS_ITSELF.has(route.path) ? undefined : own.workspaceId,
        )
        // A user who is logged in asks with no key.
        const asksWithoutKey = route.path === '/api-keys/current' && role !== 'key'
        t.equal(
          answer.status,
          asksWithoutKey ? 404 : route.success.status,
          `${route.method} ${route.path}: ${role} ${answer.text.slice(0, 200)}`,
        )
      }
    }
  })
})

/** What ends the caller's own sessions; asked in their own workspace. */
const ENDS_ITSELF = new Set(['/auth/logout-everywhere', '/auth/delete-account', '/auth/password'])
/** What needs more: a mail server, voice workers of its own, a session or an invitation of the caller's own, another Admin, a batch in a state. */
const ASKS_FOR_MORE = new Set([
  // Voice workers on this machine.
  'POST /operator/models',
  'POST /auth/email/verification',
  'DELETE /auth/sessions/{session_id}',
  'POST /auth/invitations/{invitation_id}/accept',
  'DELETE /auth/invitations/{invitation_id}',
  'POST /workspaces/{workspace_id}/leave',
])
