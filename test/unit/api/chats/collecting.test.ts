import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import t from 'tap'
import { createLogger } from '../../../../runtime/process/log.ts'
import { createRedis } from '../../../../store/redis/client.ts'
import { startTestApi } from '../../../support/instance/api.ts'

const CARD = '4242424242424242'

t.test('a chat collects what its model asks for, and gives a secret to the tool alone that lists it', async (t) => {
  const bodies: unknown[] = []
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk)
    bodies.push(JSON.parse(Buffer.concat(chunks).toString()))
    response.end(`charged ${CARD}`)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.teardown(() => server.close())
  const { port } = server.address() as AddressInfo
  const api = await startTestApi(t, { env: { PATCHBAY_TOOLS_ALLOW_NET: `localhost:${port}` } })
  const { client, workspaceId } = await api.signUp()
  const script = [
    { question: 'Please call me back.', tool: { name: 'collect_phone', arguments: {} }, answer: '{output}' },
    { question: 'I want to pay.', tool: { name: 'collect_card', arguments: {} }, answer: '{output}' },
    { question: 'Charge it.', tool: { name: 'charge', arguments: { card: '{{card}}' } }, answer: 'So: {output}' },
    { question: 'Look.', tool: { name: 'look', arguments: { card: '{{card}}' } }, answer: 'So: {output}' },
  ]
  const tool = (name: string, more: object) => ({
    type: 'http',
    name,
    description: 'Takes a card.',
    parameters: { type: 'object', properties: { card: { type: 'string' } }, required: ['card'] },
    http: { method: 'POST', url: `http://localhost:${port}/` },
    ...more,
  })
  const made = await client.post('/agents', {
    body: {
      agent_name: 'Ava',
      system_prompt: 'You are Ava.',
      LLM_provider: 'sim',
      LLM_model: JSON.stringify({ script, otherwise: 'I see.' }),
      collect: [
        { name: 'phone', type: 'phone' },
        { name: 'card', type: 'digits', secret: true, luhn: true },
      ],
      tools: [
        tool('charge', { secrets: ['card'] }),
        tool('look', {
          http: { method: 'POST', url: `http://localhost:${port}/`, body: { phone: '{{phone}}', card: '{{card}}' } },
        }),
      ],
    },
  })
  t.equal(made.status, 201, made.text)
  const session_id = 'one'
  const say = async (message: string) => {
    const body = { agent_id: made.body.agent_id, message, session_id }
    const answer = await client.post('/chats/interaction', { body })
    t.equal(answer.status, 200, answer.text)
    return answer.body as { response: string; chat_id: string }
  }
  const { db } = api.store.tenant(workspaceId)
  const chatRow = () => db.selectFrom('chats').selectAll().executeTakeFirstOrThrow()

  t.equal((await say('Please call me back.')).response, 'What is your phone number?')
  t.match((await say('no idea')).response, /say it again/)
  await say('+1 415 555 0123')
  t.match((await chatRow()).collected, { values: { phone: '+14155550123' } })

  t.match((await say('I want to pay.')).response, /What is the number/)
  t.equal((await say('4242 4242 4242 4242')).response, 'I see.')
  t.equal((await say('Charge it.')).response, 'So: charged ***', 'what the tool sends back is masked')
  const { chat_id } = await say('Look.')
  t.same(
    bodies,
    [{ card: CARD }, { phone: '+14155550123', card: '{{card}}' }],
    'a tool that does not list it has no secret',
  )

  const kept = [await chatRow(), await db.selectFrom('chat_messages').selectAll().execute()]
  t.notMatch(JSON.stringify(kept), /4242/)
  t.notMatch(JSON.stringify((await client.get(`/chats/${chat_id}`)).body), /4242/)
  const redis = await createRedis(api.redisUrl, createLogger({ level: 'silent', name: 'test' }))
  t.teardown(() => redis.destroy())
  for (const key of await redis.keys('*')) {
    const value = (await redis.type(key)) === 'string' ? await redis.get(key) : ''
    t.notMatch(`${key} ${value}`, /4242/)
  }
})

t.test('answers of a chat are guarded: the set phrase stands for what was refused twice', async (t) => {
  const api = await startTestApi(t)
  const { client } = await api.signUp()
  const script = [
    { question: 'What is a room?', answer: 'It is 80 euros.' },
    { question: 'What is a suite?', answer: 'Let me see. It is 95 euros.' },
  ]
  const { body: agent } = await client.post('/agents', {
    body: {
      agent_name: 'Ava',
      system_prompt: 'You are Ava. A room costs 80 euros.',
      LLM_provider: 'sim',
      LLM_model: JSON.stringify({ script }),
      guardrails: { grounded: ['money'] },
    },
  })
  const say = async (message: string) =>
    (await client.post('/chats/interaction', { body: { agent_id: agent.agent_id, message } })).body.response as string
  t.equal(await say('What is a room?'), 'It is 80 euros.')
  const refused = await say('What is a suite?')
  t.notMatch(refused, /95/)
  t.match(refused, /can't say anything about that/)
})
