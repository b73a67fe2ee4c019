import t from 'tap'
import { proceduresSpec } from '../../../../api/agents/procedures.ts'
import { startTestApi } from '../../../support/instance/api.ts'

const api = await startTestApi(t)
const { client } = await api.signUp()
const lookup = { type: 'http', name: 'lookup', description: 'd', http: { url: 'https://example.com' } }
const made = await client.post('/agents', { body: { agent_name: 'A', system_prompt: 'p', tools: [lookup] } })
const REFUND = { name: 'refund', when: 'A refund.', text: 'Be kind to {{name}}.' }

t.test('procedures are kept with the agent, and what they name must be its tools', async (t) => {
  const path = `/agents/${made.body.agent_id}`
  t.same(made.body.procedures, [])
  const procedures = [{ ...REFUND, tools: ['lookup'], fixed: [{ say: 'Hi.' }, { ask: 'Who?' }, { tool: 'lookup' }] }]
  t.match(await client.put(path, { body: { procedures } }), { status: 200, body: { procedures } })
  t.match((await client.get(`${path}/tools`)).body.tools, [
    { name: 'lookup' },
    { type: 'procedure', name: 'begin_procedure', parameters: { properties: { name: { enum: ['refund'] } } } },
  ])
  const faults = async (body: object) => {
    const answer = await client.put(path, { body })
    t.equal(answer.status, 422, JSON.stringify(body))
    return answer.body.detail.map(({ loc, msg }: { loc: string[]; msg: string }) => `${loc.slice(1).join('.')}: ${msg}`)
  }
  const of = (more: object) => ({ procedures: [{ ...REFUND, ...more }] })
  t.same(await faults(of({ tools: ['nothing'] })), ['procedures.0.tools.0: is no tool of the agent'])
  t.same(await faults(of({ fixed: [{ tool: 'nothing' }] })), ['procedures.0.fixed.0.tool: is no tool of the agent'])
  t.same(await faults(of({ fixed: [{ say: 'a', ask: 'b' }] })), [
    'procedures.0.fixed.0: must have one of say, ask, collect and tool',
  ])
  t.same(await faults(of({ fixed: [{ collect: 'phone' }] })), [
    'procedures.0.fixed.0.collect: is no value that the agent collects',
  ])
  const collect = [{ name: 'phone', type: 'phone' }]
  t.match(await client.put(path, { body: { ...of({ fixed: [{ collect: 'phone' }] }), collect } }), { status: 200 })
  t.same(await faults({ procedures: [REFUND, REFUND] }), [
    'procedures.1.name: is used by another procedure of the agent',
  ])
  const long = Array.from({ length: 4 }, (_, i) => ({ ...REFUND, name: `p${i}`, text: 'x'.repeat(20_000) }))
  t.same(await faults({ procedures: long }), ['procedures: must have at most 64 KiB in all'])
  t.same(await faults({ tools: [{ ...lookup, name: 'begin_procedure' }] }), [
    'tools.0.name: is the tool that begins procedures',
  ])
})

t.test('texts of procedures are filled in, and an agent without any has no tool for them', (t) => {
  t.equal(
    proceduresSpec([], (text) => text),
    undefined,
  )
  t.match(
    proceduresSpec([{ ...REFUND, fixed: [{ say: 'a' }, { tool: 'x' }] }], () => 'filled'),
    {
      procedures: [
        { name: 'refund', text: 'filled', tools: [], fixed: [{ say: 'filled' }, { tool: 'x', arguments: {} }] },
      ],
      tool: { kind: 'procedure', description: /refund: A refund\./ },
    },
  )
  t.end()
})
