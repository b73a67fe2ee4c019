import t from 'tap'
import { uuidv7 } from 'uuidv7'
import { startTestApi } from '../../support/instance/api.ts'

t.test('a workspace is made with a slug of its name, listed and switched to', async (t) => {
  const api = await startTestApi(t)
  const ada = await api.signUp()
  const first = await ada.client.post('/workspaces', { body: { name: 'Zürich & Co.', type: 'sales' } })
  t.equal(first.status, 201)
  t.match(first.body, { name: 'Zürich & Co.', type: 'sales', slug: 'zurich-co', role: 'admin' })
  const second = await ada.client.post('/workspaces', { body: { name: 'Zurich co' } })
  const third = await ada.client.post('/workspaces', { body: { name: 'zurich-co' } })
  const wordless = await ada.client.post('/workspaces', { body: { name: '日本' } })
  t.same([second.body.slug, third.body.slug, wordless.body.slug], ['zurich-co-2', 'zurich-co-3', 'workspace'])

  const list = await ada.client.get('/workspaces')
  t.equal(list.body.length, 5)
  const change = await ada.client.post(`/workspaces/${second.body.workspace_id}/switch`)
  t.same([change.status, change.body], [200, second.body])
  t.equal((await ada.client.get('/auth/me')).body.current_workspace_id, second.body.workspace_id)

  const blank = await ada.client.post('/workspaces', { body: { name: ' \t', type: ' ' } })
  t.match(
    [blank.status, blank.body.detail],
    [
      422,
      [
        { loc: ['body', 'name'], msg: 'must not be blank', type: 'string_too_short' },
        { loc: ['body', 'type'], msg: 'must not be blank' },
      ],
    ],
  )
  const bad = await ada.client.post('/workspaces', { body: { name: '', type: 3 } })
  t.equal(bad.status, 422)
  t.equal(bad.body.detail.length, 2)
})

t.test('ten workspaces of one name made at once get ten slugs', async (t) => {
  const api = await startTestApi(t)
  const ada = await api.signUp()
  const made = await Promise.all(
    Array.from({ length: 10 }, () => ada.client.post('/workspaces', { body: { name: 'Same' } })),
  )
  t.same(new Set(made.map(({ status }) => status)), new Set([201]))
  t.equal(new Set(made.map(({ body }) => body.slug)).size, 10)
})

t.test('an invitation answers the same whether or not the e-mail is known', async (t) => {
  const api = await startTestApi(t)
  const [ada, grace] = [await api.signUp(), await api.signUp('Grace Hopper')]
  const invite = (body: unknown) => ada.client.post(`/workspaces/${ada.workspaceId}/invite`, { body })
  const known = await invite({ email: grace.email, role: 'developer' })
  const unknown = await invite({ email: 'nobody@example.com', role: 'developer' })
  t.same([known.status, known.text], [200, '{"detail":"Invitation processed"}'])
  t.same([unknown.status, unknown.text], [known.status, known.text])
  t.same([...unknown.headers.keys()].sort(), [...known.headers.keys()].sort())
  const members = await ada.client.get(`/workspaces/${ada.workspaceId}/members`)
  t.match(members.body, [
    { user_id: ada.id, role: 'admin' },
    { user_id: grace.id, email: grace.email, name: 'Grace Hopper', role: 'developer' },
  ])
  t.same((await grace.client.get('/auth/invitations')).body, [], 'nothing is left to accept')
  await invite({ email: grace.email.toUpperCase(), role: 'member' })
  t.match((await ada.client.get(`/workspaces/${ada.workspaceId}/members`)).body[1], { role: 'developer' })
  const badRole = await invite({ email: grace.email, role: 'owner' })
  t.match(badRole.body.detail, [{ loc: ['body', 'role'], type: 'enum' }])
  t.equal(badRole.status, 422)
})

t.test('where the operator wants it, the invited accept before they are members', async (t) => {
  const api = await startTestApi(t, { env: { PATCHBAY_INVITATIONS: 'accept' } })
  const [ada, grace] = [await api.signUp(), await api.signUp('Grace Hopper')]
  const invite = (body: unknown) => ada.client.post(`/workspaces/${ada.workspaceId}/invite`, { body })
  await invite({ email: grace.email, role: 'developer' })
  const before = await ada.client.get(`/workspaces/${ada.workspaceId}/members`)
  t.match(before.body, [{ user_id: ada.id }])
  t.equal(before.body.length, 1)
  t.match((await ada.client.get(`/workspaces/${ada.workspaceId}/invitations`)).body, [
    { email: grace.email, role: 'developer' },
  ])
  const [invitation] = (await grace.client.get('/auth/invitations')).body
  t.match(invitation, { workspace_id: ada.workspaceId, role: 'developer' })
  t.equal((await ada.client.post(`/auth/invitations/${invitation.invitation_id}/accept`)).status, 404, 'not hers')
  t.equal((await grace.client.post(`/auth/invitations/${invitation.invitation_id}/accept`)).status, 200)
  const members = await ada.client.get(`/workspaces/${ada.workspaceId}/members`)
  t.match(members.body, [
    { user_id: ada.id, role: 'admin' },
    { user_id: grace.id, email: grace.email, name: 'Grace Hopper', role: 'developer' },
  ])
})

t.test('a link makes an account and a membership in one', async (t) => {
  const api = await startTestApi(t)
  const ada = await api.signUp()
  const links = `/workspaces/${ada.workspaceId}/invitation-links`
  const made = await ada.client.post(links, { body: { role: 'developer', email: 'grace@example.com' } })
  t.equal(made.status, 201)
  t.match(made.body.link, `/account/signup#token=${made.body.token}`)
  t.match((await ada.client.get(`/workspaces/${ada.workspaceId}/invitations`)).body, [
    { email: 'grace@example.com', role: 'developer', expires_at: made.body.expires_at },
  ])
  const person = { name: 'Grace', password: 'correct horse', phone_number: '+14155550123' }
  const signUp = (email: string, invitation: string) =>
    api.client().post('/auth/signup', { body: { ...person, email, invitation } })
  const stranger = await signUp('mallory@example.com', made.body.token)
  t.same([stranger.status, stranger.body.detail], [400, 'Link is used, expired or unknown'])
  const taken = await signUp(ada.email, (await ada.client.post(links, { body: { role: 'member' } })).body.token)
  t.equal(taken.status, 409)

  const joined = await signUp('Grace@example.com', made.body.token)
  t.same([joined.status, joined.body.current_workspace_id], [201, ada.workspaceId])
  t.equal((await signUp('grace2@example.com', made.body.token)).status, 400, 'a link works once')
  t.match((await ada.client.get(`/workspaces/${ada.workspaceId}/members`)).body, [
    { user_id: ada.id },
    { email: 'Grace@example.com', role: 'developer' },
  ])
  const [open] = (await ada.client.get(`/workspaces/${ada.workspaceId}/invitations`)).body
  t.match(open, { email: '', role: 'member' }, 'a signup that failed leaves its link')
  const withdrawn = await ada.client.delete(`/workspaces/${ada.workspaceId}/invitations/${open.invitation_id}`)
  t.equal(withdrawn.status, 200)
  t.same((await ada.client.get(`/workspaces/${ada.workspaceId}/invitations`)).body, [])
})

t.test('a link ends with the rights of who made it, and is none where signup is closed', async (t) => {
  const api = await startTestApi(t)
  const ada = await api.signUp()
  const boss = await api.member(ada, 'admin')
  await api.store.global.updateTable('instance_settings').set({ signup: 'closed' }).execute()
  const at = `/workspaces/${ada.workspaceId}`
  const { status, body } = await boss.client.post(`${at}/invitation-links`, { body: { role: 'member' } })
  t.same([status, body.code ?? 'signup_closed'], [403, 'signup_closed'])
  await api.store.global.updateTable('instance_settings').set({ signup: 'invitation' }).execute()
  const { body: link } = await boss.client.post(`${at}/invitation-links`, { body: { role: 'admin' } })
  await ada.client.patch(`${at}/members/${boss.id}`, { body: { role: 'member' } })
  const person = { name: 'Eve', email: 'eve@example.com', password: 'correct horse', phone_number: '+14155550123' }
  const late = await api.client().post('/auth/signup', { body: { ...person, invitation: link.token } })
  t.same([late.status, late.body.detail], [400, 'Link is used, expired or unknown'])
  t.equal((await ada.client.get(`${at}/members`)).body.length, 2)
})

t.test('each role may do what it may and no more', async (t) => {
  const api = await startTestApi(t)
  const ada = await api.signUp()
  const outsider = await api.signUp()
  const at = `/workspaces/${ada.workspaceId}`
  const member = await api.member(ada, 'member')
  const developer = await api.member(ada, 'developer')
  const invitation = { body: { email: 'x@example.com', role: 'member' } }
  for (const { client } of [member, developer]) {
    t.equal((await client.get(`${at}/members`)).status, 200)
    for (const answer of [
      await client.post(`${at}/invite`, invitation),
      await client.post(`${at}/invite`, { body: '{', headers: { 'content-type': 'application/json' } }),
      await client.delete(`${at}/members/${ada.id}`),
      await client.delete(at),
    ]) {
      t.same([answer.status, answer.body], [403, { detail: 'Admin access required' }])
    }
  }
  for (const answer of [
    await outsider.client.get(`${at}/members`),
    await outsider.client.post(`${at}/switch`),
    await outsider.client.post(`${at}/invite`, invitation),
    await outsider.client.delete(`${at}/members/${ada.id}`),
    await outsider.client.delete(at),
    await ada.client.get(`/workspaces/${uuidv7()}/members`),
  ]) {
    t.same([answer.status, answer.body], [403, { detail: 'Not a member of this workspace' }])
  }
  const malformed = await ada.client.get('/workspaces/garbage/members')
  t.same([malformed.status, malformed.body], [404, { detail: 'Workspace not found' }])
  for (const path of [`${at}/members`, '/workspaces']) t.equal((await api.client().get(path)).status, 401)
  const key = await api.keyClient(ada)
  t.same((await key.get('/workspaces')).body, { detail: 'Invalid or missing token' })
})

t.test('the header X-Workspace-Id selects the workspace', async (t) => {
  const api = await startTestApi(t)
  const ada = await api.signUp()
  const { body: other } = await ada.client.post('/workspaces', { body: { name: 'Other' } })
  const agent = { agent_name: 'A', system_prompt: 'You answer.' }
  await ada.client.post('/agents', { body: agent, headers: { 'x-workspace-id': other.workspace_id } })
  t.equal((await ada.client.get('/agents')).body.length, 0)
  t.equal((await ada.client.get('/agents', { headers: { 'x-workspace-id': other.workspace_id } })).body.length, 1)
  const stranger = await api.signUp()
  for (const id of [stranger.workspaceId, uuidv7(), 'garbage']) {
    const answer = await ada.client.get('/agents', { headers: { 'x-workspace-id': id } })
    t.same([answer.status, answer.body], [403, { detail: 'Not a member of this workspace' }])
  }
  const key = await api.keyClient(ada)
  t.equal((await key.get('/agents', { headers: { 'x-workspace-id': ada.workspaceId } })).status, 200)
  t.equal((await key.get('/agents', { headers: { 'x-workspace-id': other.workspace_id } })).status, 403)
})

t.test('members are removed, but never the last Admin', async (t) => {
  const api = await startTestApi(t)
  const ada = await api.signUp()
  const grace = await api.member(ada, 'admin')
  const at = `/workspaces/${ada.workspaceId}/members`
  for (const id of [uuidv7(), 'garbage']) {
    const answer = await ada.client.delete(`${at}/${id}`)
    t.same([answer.status, answer.body], [404, { detail: 'Member not found' }])
  }
  const removed = await ada.client.delete(`${at}/${grace.id}`)
  t.same([removed.status, removed.body], [200, { detail: 'Member removed' }])
  t.equal((await grace.client.get(at)).status, 403)
  t.not((await grace.client.get('/auth/me')).body.current_workspace_id, ada.workspaceId)
  const last = await ada.client.delete(`${at}/${ada.id}`)
  t.same([last.status, last.body], [400, { detail: 'Workspace must keep an admin' }])
})

t.test('two Admins who remove each other at once leave one', async (t) => {
  const api = await startTestApi(t)
  const ada = await api.signUp()
  const grace = await api.member(ada, 'admin')
  const at = `/workspaces/${ada.workspaceId}/members`
  const [one, two] = await Promise.all([ada.client.delete(`${at}/${grace.id}`), grace.client.delete(`${at}/${ada.id}`)])
  t.equal([one, two].filter(({ status }) => status === 200).length, 1)
})

t.test('a deleted workspace is gone for everyone from that moment', async (t) => {
  const api = await startTestApi(t)
  const ada = await api.signUp()
  const grace = await api.member(ada, 'developer')
  const { body: doomed } = await ada.client.post('/workspaces', { body: { name: 'Doomed' } })
  const key = await api.keyClient(ada)
  t.equal((await ada.client.delete(`/workspaces/${ada.workspaceId}`)).status, 200)
  for (const { client } of [ada, grace]) {
    t.equal((await client.get(`/workspaces/${ada.workspaceId}/members`)).status, 403)
    t.equal((await client.get('/agents', { headers: { 'x-workspace-id': ada.workspaceId } })).status, 403)
  }
  t.same((await key.get('/agents')).body, { detail: 'Invalid API key' })
  t.equal((await ada.client.get('/auth/me')).body.current_workspace_id, doomed.workspace_id)
  t.equal((await ada.client.get('/agents')).status, 200)

  await ada.client.delete(`/workspaces/${doomed.workspace_id}`)
  t.equal((await ada.client.get('/auth/me')).body.current_workspace_id, null)
  t.same((await ada.client.get('/agents')).body, { detail: 'Not a member of this workspace' })
  const reborn = await ada.client.post('/workspaces', { body: { name: 'Doomed' } })
  t.equal(reborn.body.slug, 'doomed', 'its slug is free again')
})

t.test('roles change, members leave, and an Admin stays', async (t) => {
  const api = await startTestApi(t)
  const ada = await api.signUp()
  const grace = await api.member(ada, 'member')
  const of = (userId: string) => `/workspaces/${ada.workspaceId}/members/${userId}`
  const leave = (user: typeof ada) => user.client.post(`/workspaces/${ada.workspaceId}/leave`)
  t.equal((await grace.client.patch(of(grace.id), { body: { role: 'admin' } })).status, 403)
  const last = await ada.client.patch(of(ada.id), { body: { role: 'member' } })
  t.same([last.status, last.body], [400, { detail: 'Workspace must keep an admin' }])
  t.equal((await leave(ada)).status, 400)
  t.equal((await ada.client.patch(of(grace.id), { body: { role: 'admin' } })).status, 200)
  t.equal((await ada.client.patch(of(ada.id), { body: { role: 'developer' } })).status, 200)
  t.equal((await ada.client.get('/api-keys', { headers: { 'x-workspace-id': ada.workspaceId } })).status, 403)
  t.equal((await leave(ada)).status, 200)
  t.equal((await ada.client.get('/agents', { headers: { 'x-workspace-id': ada.workspaceId } })).status, 403)
})

t.test('many workspaces of one name are made at once, and none costs more than another', async (t) => {
  const api = await startTestApi(t)
  const ada = await api.signUp()
  const made = await Promise.all(
    Array.from({ length: 40 }, () => ada.client.post('/workspaces', { body: { name: 'Twin', type: 'team' } })),
  )
  t.same([...new Set(made.map(({ status }) => status))], [201])
  const numbers = made.map(({ body }) => Number(body.slug.replace(/^twin-?/, '') || 1)).sort((a, b) => a - b)
  t.same(
    numbers,
    Array.from({ length: 40 }, (_, i) => i + 1),
  )
})

t.test('an Admin renames the workspace, and its slug stays', async (t) => {
  const api = await startTestApi(t)
  const ada = await api.signUp()
  const eve = await api.member(ada, 'developer')
  const path = `/workspaces/${ada.workspaceId}`
  const named = async () =>
    (await ada.client.get('/workspaces')).body.find(
      (one: { workspace_id: string }) => one.workspace_id === ada.workspaceId,
    )
  const before = await named()
  t.match(await ada.client.patch(path, { body: { name: 'Engines' } }), { status: 200, body: { name: 'Engines' } })
  t.same(await named(), { ...before, name: 'Engines' })
  t.same(
    [
      (await ada.client.patch(path, { body: { name: '' } })).status,
      (await eve.client.patch(path, { body: { name: 'Eve' } })).status,
    ],
    [422, 403],
  )
  t.equal((await named()).name, 'Engines')
})
