import t from 'tap'
import type { Answer } from '../../../support/instance/api.ts'
import { startSipApi } from '../../../support/sip/sip-phone.ts'
import { startSipResponder } from '../../../support/sip/sip-responder.ts'
import { waitUntil } from '../../../support/world/wait-until.ts'

t.test('what a trunk answered is kept over time, and it is looked at on demand', async (t) => {
  const { user, sipPort } = await startSipApi(t)
  const add = async (body: object): Promise<string> =>
    (await user.client.post('/trunks', { body: { allowed_addresses: ['127.0.0.1'], ...body } })).body.trunk_id
  const heard = async (id: string): Promise<Answer['body']> => {
    const read = async () => (await user.client.get(`/trunks/${id}/health`)).body
    await waitUntil(async () => (await read()).attempts.length > 0)
    return read()
  }

  await t.test('one that answers', async (t) => {
    const far = await startSipResponder(t, () => 200)
    const id = await add({ name: 'fine', host: `127.0.0.1:${far.port}` })
    const { attempts, hours } = await heard(id)
    t.match(attempts[0], { method: 'OPTIONS', ok: true, status: 200, reason: 'OK', at: String })
    t.equal(hours.length, 168)
    t.ok(hours.at(-1).ok + hours.at(-2).ok > 0, 'it stands in its hour')
    t.match((await user.client.get(`/trunks/${id}`)).body.state, { contact_status: 200 })

    const { body } = await user.client.post(`/trunks/${id}/check`)
    t.match(body, { trunk_id: id, healthy: true, checked_at: String })
    t.same(
      body.findings.map(({ check, ok }: { check: string; ok: boolean }) => [check, ok]),
      [
        ['listens', true],
        ['address', true],
        ['answers', true],
        ['seen_as', true],
        ['media', true],
      ],
    )
    t.match(body.findings[0].text, `port ${sipPort}`)
    t.equal(body.findings[1].text, '127.0.0.1 is an address', 'and not itself')
  })

  await t.test('one that refuses the password', async (t) => {
    const far = await startSipResponder(t, (method) => (method === 'REGISTER' ? 403 : 200))
    const account = { username: 'aurora', password: 'wrong', register: true }
    const id = await add({ name: 'refuses', host: `127.0.0.1:${far.port}`, ...account })
    const { attempts } = await heard(id)
    t.match(attempts[0], { method: 'REGISTER', ok: false, status: 403, reason: 'Forbidden' })
    const { body } = await user.client.post(`/trunks/${id}/check`)
    t.equal(body.healthy, false)
    t.match(
      body.findings.find(({ ok }: { ok: boolean }) => !ok),
      { check: 'credentials', text: /username or password is wrong/ },
    )
  })

  await t.test('one whose host nobody knows', async (t) => {
    const id = await add({ name: 'nowhere', host: 'nowhere.invalid' })
    const { body } = await user.client.post(`/trunks/${id}/check`)
    t.match(body, {
      healthy: false,
      findings: [
        { check: 'listens', ok: true },
        { check: 'address', ok: false },
      ],
    })
    t.equal(body.findings.length, 2, 'what needs an address is not tried')
    const { attempts } = await heard(id)
    t.match(attempts[0], { ok: false, status: 0, reason: /no address/ })
  })
})
