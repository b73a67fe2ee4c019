import t from 'tap'
import { acceptInvitation, invitationsOf, inviteByEmail } from '../../../../store/accounts/invitations.ts'
import { createUser } from '../../../../store/accounts/users.ts'
import { openStore } from '../../../../store/database/database.ts'
import { membersOf, removeMember, slugify } from '../../../../store/workspaces/workspaces.ts'
import { testDatabase } from '../../../support/instance/services.ts'

t.test('however many Admins are removed at once, one stays', async (t) => {
  const store = openStore({ databaseUrl: await testDatabase(t), maxConnections: 8 })
  t.teardown(() => store.close())
  const users = await Promise.all(
    Array.from({ length: 8 }, (_, i) =>
      createUser(store.global, {
        name: 'Ada',
        email: `ada-${i}@example.com`,
        passwordHash: '',
        phoneNumber: '+14155550123',
      }),
    ),
  )
  const workspaceId = users[0]?.current_workspace_id ?? ''
  const [first] = users
  for (const { id, email } of users.slice(1)) {
    await inviteByEmail(store.global, { workspaceId, email, role: 'admin', invitedBy: first?.id ?? '' })
    const [invitation] = await invitationsOf(store.global, id)
    await acceptInvitation(store.global, id, invitation?.id ?? '')
  }
  const removals = await Promise.allSettled(users.map(({ id }) => removeMember(store.global, workspaceId, id)))
  const refused = removals.filter(({ status }) => status === 'rejected')
  t.match(refused, [{ reason: { code: 'last_admin' } }])
  t.equal(refused.length, 1)
  t.equal((await membersOf(store.global, workspaceId)).length, 1)
})

t.test('slugs hold Latin letters, digits and dashes', async (t) => {
  for (const [name, slug] of [
    ['Zürich & Co.', 'zurich-co'],
    ["Ada's Workspace", 'adas-workspace'],
    ['  --x--  ', 'x'],
    ['日本', 'workspace'],
    ['', 'workspace'],
    [`${'a'.repeat(59)} b`, 'a'.repeat(59)],
  ] as const) {
    t.equal(slugify(name), slug)
  }
})
