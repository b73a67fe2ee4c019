import t from 'tap'
import { uuidv7 } from 'uuidv7'
import { createIdentities } from '../../../../store/accounts/identity.ts'
import { createUser } from '../../../../store/accounts/users.ts'
import { openStore } from '../../../../store/database/database.ts'
import { testDatabase } from '../../../support/instance/services.ts'

t.test('those who ask at once get each their own identity', async (t) => {
  const store = openStore({ databaseUrl: await testDatabase(t), maxConnections: 3 })
  t.teardown(() => store.close())
  const identityOf = createIdentities(store.pool)
  const users = await Promise.all(
    Array.from({ length: 20 }, (_, i) =>
      createUser(store.global, {
        name: `U${i}`,
        email: `u${i}@example.com`,
        passwordHash: '',
        phoneNumber: '+14155550123',
      }),
    ),
  )
  const [ada, eve] = users
  const asked = Array.from({ length: 900 }, (_, i) => users[i % users.length])
  const found = await Promise.all(
    asked.map((user) => identityOf({ userId: user?.id ?? '', workspaceId: null, sessionId: null })),
  )
  t.same(
    found.map((identity) => [identity?.user.email, identity?.membership]),
    asked.map((user) => [user?.email, { workspaceId: user?.current_workspace_id, role: 'admin', isSuspended: false }]),
  )
  const mixed = await Promise.all([
    identityOf({ userId: ada?.id ?? '', workspaceId: eve?.current_workspace_id ?? '', sessionId: null }),
    identityOf({ userId: uuidv7(), workspaceId: null, sessionId: null }),
    identityOf({ userId: ada?.id ?? '', workspaceId: ada?.current_workspace_id ?? '', sessionId: null }),
  ])
  t.equal(mixed[0]?.membership, undefined, 'no member there')
  t.equal(mixed[1], undefined, 'nobody')
  t.equal(mixed[2]?.membership?.role, 'admin')
})

t.test('a change is seen by every later reader, however many there are', async (t) => {
  const store = openStore({ databaseUrl: await testDatabase(t), maxConnections: 3 })
  t.teardown(() => store.close())
  const identityOf = createIdentities(store.pool)
  const user = { name: 'Ada', email: 'ada@example.com', passwordHash: '', phoneNumber: '+14155550123' }
  const { id } = await createUser(store.global, user)
  let pending: Promise<unknown>[] = []
  for (const role of ['member', 'developer', 'admin', 'member', 'developer'] as const) {
    pending.push(...Array.from({ length: 300 }, () => identityOf({ userId: id, workspaceId: null, sessionId: null })))
    await store.global.updateTable('memberships').set({ role }).where('user_id', '=', id).execute()
    t.equal((await identityOf({ userId: id, workspaceId: null, sessionId: null }))?.membership?.role, role)
  }
  await Promise.all(pending)
  pending = Array.from({ length: 300 }, () => identityOf({ userId: id, workspaceId: null, sessionId: null }))
  await store.global.deleteFrom('users').where('id', '=', id).execute()
  t.equal(await identityOf({ userId: id, workspaceId: null, sessionId: null }), undefined)
  await Promise.all(pending)
})

t.test('a database that fails fails everyone who asked, and nobody after it is back', async (t) => {
  const store = openStore({ databaseUrl: await testDatabase(t), maxConnections: 1 })
  t.teardown(() => store.close())
  const identityOf = createIdentities(store.pool)
  const isGone = await Promise.allSettled(
    Array.from({ length: 450 }, () => identityOf({ userId: 'no uuid', workspaceId: null, sessionId: null })),
  )
  t.same(new Set(isGone.map(({ status }) => status)), new Set(['rejected']))
  t.equal(await identityOf({ userId: uuidv7(), workspaceId: null, sessionId: null }), undefined)
})
