/** The same route on express 5. It brings no validation, so it gets ours. */
import { randomUUID } from 'node:crypto'
import express from 'express'
import { compileCheck } from '../../api/schema.ts'
import { AgentInput, answerTo, PATH_WITHOUT_DATABASE, serveParent, userOf } from './work.ts'

const check = compileCheck(AgentInput)
const app = express()
app.disable('x-powered-by')
app.use((request, response, next) => {
  response.setHeader('x-request-id', request.headers['x-request-id'] ?? randomUUID())
  next()
})
app.use(express.json({ limit: '1mb' }))
app.post(PATH_WITHOUT_DATABASE, async (request, response) => {
  const { sub } = await userOf(request.headers.cookie ?? '')
  response.json(answerTo(check(request.body, 'body'), sub))
})

const server = app.listen(0, '127.0.0.1', () => {
  const address = server.address()
  serveParent(typeof address === 'object' && address ? address.port : 0)
})
