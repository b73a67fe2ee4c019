import t from 'tap'
import { eventSubject } from '../../../web/console/src/screens/developers/event-subject.ts'
import { auditedOf } from '../../../web/console/src/screens/workspace/audited.ts'

const ID = '0197f3a2-7c1e-7000-8000-000000000003'
const of = (action: string, resource: string, detail: Record<string, unknown> = {}) =>
  auditedOf({ action, resource, detail }, (id) => (id === ID ? 'Front desk' : undefined))

t.test('an entry of the audit log says what it is about, and leads there while it is', async (t) => {
  const agent = { name: 'Front desk', id: ID, path: `/agents/${ID}` }
  t.same(of('PATCH /agents/{agent_id}', `/agents/${ID}`), agent)
  t.same(
    of('POST /agents', `/agents/${ID}`, { agent_name: 'Then' }),
    { ...agent, name: 'Then' },
    'as it was called then',
  )
  t.same(of('POST /agents/{agent_id}/publish', `/agents/${ID}`), agent)
  t.same(of('DELETE /agents/{agent_id}', `/agents/${ID}`), { name: 'Front desk', id: ID }, 'gone')
  t.same(of('DELETE /agents/{agent_id}/rollout', `/agents/${ID}/rollout`), agent, 'the agent is not')
  t.same(of('POST /calls/outbound_call', '/calls/outbound_call/7'), { id: '7', path: '/calls/7' })
  t.same(of('POST /api/v/campaign/{slug}/pause/', '/api/v/campaign/spring/pause'), {
    id: 'spring',
    path: '/campaigns/spring',
  })
  t.same(of('PATCH /phone-numbers/{phone_number}', '/phone-numbers/%2B14155550100'), { id: '+14155550100' })
  t.same(of('POST /workspaces/{workspace_id}/invite', '/workspaces/9/invite', { email: 'eve@x.org' }), {
    name: 'eve@x.org',
    id: '9',
  })
  t.same(of('POST /auth/logout-everywhere', '/auth/logout-everywhere'), undefined)
  t.same(of('DELETE /do-not-call/{phone_number}', '/do-not-call/{phone_number}'), undefined, 'a person is not named')
  t.same(of('admin calls release', 'call 7'), undefined)
  t.same(of('GET /a/{id}', '/a/%E0%A4%A'), { id: '%E0%A4%A' })
})

t.test('what was sent says which call it is about', async (t) => {
  const about = (data: object) => eventSubject(JSON.stringify({ type: 'x', data }))
  const call = { call_log_id: '7', agent_name: 'Desk', from_number: '+1', to_number: '+2' }
  t.same(about({ ...call, direction: 'inbound' }), { label: 'Desk · +1', path: '/calls/7' })
  t.same(about({ ...call, direction: 'outbound', batch_id: '8' }), { label: 'Desk · +2', path: '/calls/7' })
  t.same(about({ call_log_id: '7', from_number: null }), { label: '7', path: '/calls/7' })
  t.same(about({ batch_id: '8', name: 'May' }), { label: 'May', path: '/batches/8' })
  t.same(about({ slug: 'spring' }), { label: 'spring', path: '/campaigns/spring' })
  t.same(about({ agent_id: '3', agent_name: 'Desk' }), { label: 'Desk', path: '/agents/3' })
  t.same(about({ phone_number: '+1' }), { label: '+1' })
  t.same(
    [eventSubject(null), eventSubject('{'), eventSubject('{"data":3}'), about({})],
    [undefined, undefined, undefined, undefined],
  )
})
