/** The same routes on fastify 5 with its own validation and serialisation, and pg. Arguments: the database. */
import { randomUUID } from 'node:crypto'
import Fastify from 'fastify'
import pg from 'pg'
import type { Static } from 'typebox'
import { UserBody, userBody } from '../../api/auth/schema.ts'
import { USER_IDENTITY } from '../../store/accounts/identity.ts'
import type { User } from '../../store/database/schema.ts'
import { AgentInput, AgentOutput, answerTo, PATH_WITHOUT_DATABASE, serveParent, userOf } from './work.ts'

const pool = new pg.Pool({ connectionString: process.argv[2] ?? '', max: 10 })
const app = Fastify({ requestIdHeader: 'x-request-id', genReqId: () => randomUUID() })
app.addHook('onRequest', async (request, reply) => {
  reply.header('x-request-id', request.id)
})

const inputAndOutput = { schema: { body: AgentInput, response: { 200: AgentOutput } } }
app.post<{ Body: Static<typeof AgentInput> }>(PATH_WITHOUT_DATABASE, inputAndOutput, async (request) => {
  const { sub } = await userOf(request.headers.cookie ?? '')
  return answerTo(request.body, sub)
})

app.get('/auth/me', { schema: { response: { 200: UserBody } } }, async (request) => {
  const { sub } = await userOf(request.headers.cookie ?? '')
  const { rows } = await pool.query<User>({ ...USER_IDENTITY, values: [sub, null, null] })
  return userBody(rows[0] as User)
})

const url = await app.listen({ host: '127.0.0.1', port: 0 })
serveParent(Number(new URL(url).port))
