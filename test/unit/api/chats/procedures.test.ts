import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import t from 'tap'
import { ChatProcedures } from '../../../../api/chats/chat-procedures.ts'
import type { Procedure } from '../../../../runtime/call/types/procedure.ts'
import { startTestApi } from '../../../support/instance/api.ts'

t.test('a chat makes the fixed steps in order, across messages, and its model goes on behind the last', async (t) => {
  const bodies: unknown[] = []
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk)
    bodies.push(JSON.parse(Buffer.concat(chunks).toString()))
    response.end('contract found')
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.teardown(() => server.close())
  const { port } = server.address() as AddressInfo
  const api = await startTestApi(t, { env: { PATCHBAY_TOOLS_ALLOW_NET: `localhost:${port}` } })
  const { client } = await api.signUp()
  const script = [
    { question: 'cancel', tool: { name: 'begin_procedure', arguments: { name: 'cancel' } }, answer: 'never said' },
    { question: '+1 415 555 0123', answer: 'You are free.' },
  ]
  const { body } = await client.post('/agents', {
    body: {
      ...{ agent_name: 'B', system_prompt: 'p', LLM_provider: 'sim', LLM_model: JSON.stringify({ script }) },
      collect: [{ name: 'phone', type: 'phone' }],
      tools: [
        {
          ...{
            type: 'http',
            name: 'find',
            description: 'd',
            http: { method: 'POST', url: `http://localhost:${port}/` },
          },
          parameters: { type: 'object', properties: { by: { type: 'string' } } },
        },
      ],
      procedures: [
        {
          ...{ name: 'cancel', when: 'They want to cancel.', text: 'Be kind to {{name}}.' },
          fixed: [
            { say: 'It ends this month.' },
            { ask: 'Why do you leave?' },
            { tool: 'find', arguments: { by: 'chat' } },
            { collect: 'phone' },
          ],
        },
      ],
    },
  })
  const say = async (message: string) => {
    const answer = await client.post('/chats/interaction', {
      body: { agent_id: body.agent_id, message, session_id: 's', dynamic_variables: { name: 'Ada' } },
    })
    t.equal(answer.status, 200, answer.text)
    return answer.body.response as string
  }
  t.equal(await say('cancel'), 'It ends this month.\n\nWhy do you leave?', 'a question waits for its answer')
  t.same(bodies, [])
  t.equal(await say('Too dear'), 'What is your phone number?')
  t.same(bodies, [{ by: 'chat' }], 'the tool was called without the model')
  t.match(await say('why?'), /Could you say it again|Sorry/, 'a question of the person does not leave the step')
  t.equal(await say('+1 415 555 0123'), 'You are free.', 'the model goes on behind the last step')
  t.equal(await say('Too dear'), 'You said: Too dear')
  t.equal(bodies.length, 1, 'nothing is done twice')
})

const CANCEL: Procedure = {
  ...{ name: 'cancel', when: 'w', text: 'Be kind.', tools: ['refund'] },
  fixed: [{ ask: 'Why?' }, { tool: 'find', arguments: {} }, { collect: 'phone' }, { say: 'Thank you.' }],
}

/** What is said, message by message, to the end of the steps. */
async function saidBy(procedures: ChatProcedures): Promise<string[]> {
  const said: string[] = []
  const steps = { callTool: async () => 'found', collect: (name: string) => `Your ${name}?`, isOver: () => false }
  for await (const text of procedures.steps(steps)) said.push(text)
  return said
}

t.test('what steps brought is known to the model from then on, and a chat goes on where it stopped', async (t) => {
  const first = new ChatProcedures([CANCEL])
  t.ok(first.isHidden('refund'))
  t.equal(first.begin('other'), 'There is no such procedure.')
  first.begin('cancel')
  t.same(await saidBy(first), ['Why?'])
  const second = new ChatProcedures([CANCEL], first.stored)
  t.notOk(second.isHidden('refund'), 'its tools are the model’s')
  second.answered([])
  t.same(await saidBy(second), ['Your phone?'])
  const third = new ChatProcedures([CANCEL], second.stored)
  third.answered([{ id: 'phone-4', name: 'collect_phone', output: '{"value":"+14155550123"}' }])
  t.same(await saidBy(third), ['Thank you.'])
  t.notOk(third.isRunning)
  t.same(new ChatProcedures([CANCEL], third.stored).notes, [
    'The procedure cancel has begun. Follow it:\nBe kind.',
    'The tool find was called and returned: found',
    'collect_phone returned: {"value":"+14155550123"}',
  ])
})

t.test('steps that were made for a message are not made for it once more', async (t) => {
  const procedures = new ChatProcedures([{ ...CANCEL, fixed: [{ say: 'Hello.' }] }])
  procedures.begin('cancel')
  t.same(await saidBy(procedures), ['Hello.'])
  procedures.begin('cancel')
  t.notOk(procedures.isRunning)
})
