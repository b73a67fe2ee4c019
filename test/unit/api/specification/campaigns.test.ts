import t from 'tap'
import { startTestApi } from '../../../support/instance/api.ts'

/** Campaigns as the specification has them. */

t.test(
  'a campaign is found by its slug in every workspace of the user, with the role the user has there',
  async (t) => {
    const api = await startTestApi(t, { nodes: 2 })
    const [ada, bob] = [await api.signUp(), await api.signUp('Bob')]
    const { body: second } = await ada.client.post('/workspaces', { body: { name: 'Second', type: 'team' } })
    const elsewhere = { workspace: second.workspace_id, name: 'Elsewhere', email: 'Owner@Example.com' }
    t.equal((await ada.client.post('/api/v/campaign/', { body: elsewhere })).status, 201)
    t.equal((await ada.client.post('/api/v/campaign/', { body: { name: 'Here' } })).status, 201)

    t.match((await ada.client.get('/api/v/campaign/elsewhere/')).body, { workspace: second.workspace_id })
    t.equal((await ada.client.get('/api/v/campaign/elsewhere/status/')).status, 200)
    const changed = await ada.client.patch('/api/v/campaign/elsewhere/', { body: { dialer_interval: 5 } })
    t.same([changed.status, changed.body.dialer_interval, changed.body.workspace], [200, 5, second.workspace_id])
    const { body: lists } = await ada.client.get('/api/v/list/', { query: { campaign: 'elsewhere' } })
    const form = new FormData()
    form.set('primary_phone', '+14155550199')
    const prospect = await ada.client.post(`/api/v/prospect/${lists[0].list_uuid}/`, { form })
    t.equal(prospect.status, 201)
    t.equal((await ada.client.get(`/api/v/prospect/${prospect.body.uuid}/`)).status, 200)
    const csv = new FormData()
    csv.set('original_data', new Blob(['primary_phone\n+14155550198\n']), 'list.csv')
    const upload = await ada.client.post('/api/v/upload/elsewhere/', { form: csv })
    t.equal(upload.status, 201)
    t.equal((await ada.client.get(`/api/v/upload/${upload.body.uuid}/`)).status, 200)

    const slugs = async (client: typeof ada.client, query: Record<string, string> = {}) =>
      (await client.get('/api/v/campaign/', { query })).body.map(({ slug }: { slug: string }) => slug)
    t.same(await slugs(ada.client), ['here', 'elsewhere'], 'all of hers, newest first')
    t.same(await slugs(ada.client, { workspace: second.workspace_id }), ['elsewhere'])
    t.same(await slugs(ada.client, { email: 'owner@example.COM' }), ['elsewhere'], 'an address in any case')
    const page = await ada.client.get('/api/v/campaign/', { query: { page: 2, page_size: 1 } })
    t.match(page.body, { items: [{ slug: 'elsewhere' }], total: 2, total_pages: 2 })
    t.same(await slugs(await api.keyClient(ada, ['read', 'campaigns'])), ['here'], "a key's own")
    t.equal((await bob.client.get('/api/v/campaign/elsewhere/')).status, 404, 'nobody else’s')

    const member = await api.member(ada, 'member')
    const refused = await member.client.patch('/api/v/campaign/here/', { body: { paused: true } })
    t.same([refused.status, refused.body.detail], [403, 'Insufficient permissions'], 'as a member elsewhere')
    t.equal((await member.client.get('/api/v/campaign/here/')).status, 200)
  },
)

t.test('a campaign takes long waits, and an Admin alone fixes its ratio', async (t) => {
  const api = await startTestApi(t, { nodes: 2 })
  const ada = await api.signUp()
  const long = { name: 'Patient', max_wait_time: 86_400, wrap_up_time: 86_400 }
  t.match(await ada.client.post('/api/v/campaign/', { body: long }), {
    ...{ status: 201, body: { max_wait_time: 86_400, wrap_up_time: 86_400, pacing: 'predictive' } },
  })
  t.equal((await ada.client.patch('/api/v/campaign/patient/', { body: { wrap_up_time: 86_401 } })).status, 422)
  t.match(await ada.client.patch('/api/v/campaign/patient/', { body: { pacing: 'fixed' } }), {
    body: { pacing: 'fixed' },
  })
  const key = await api.keyClient(ada, ['read', 'campaigns'])
  for (const answer of [
    await key.patch('/api/v/campaign/patient/', { body: { pacing: 'fixed' } }),
    await key.post('/api/v/campaign/', { body: { name: 'Mine', pacing: 'fixed' } }),
  ]) {
    t.same([answer.status, answer.body.detail], [403, 'Admin access required'])
  }
})

t.test('a number within dupe_days is a duplicate, and never with -1', async (t) => {
  const api = await startTestApi(t, { nodes: 2 })
  const { client } = await api.signUp()
  const twice = async (dupeDays: number) => {
    const { body } = await client.post('/api/v/campaign/', { body: { name: `Days ${dupeDays}`, dupe_days: dupeDays } })
    const add = () => {
      const form = new FormData()
      form.set('primary_phone', '+14155550199')
      return client.post(`/api/v/prospect/${body.lists[0].list_uuid}/`, { form })
    }
    return [(await add()).status, (await add()).status]
  }
  t.same(
    [await twice(90), await twice(-1)],
    [
      [201, 409],
      [201, 201],
    ],
  )
})
