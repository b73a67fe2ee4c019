import { type Static, Type } from 'typebox'
import { PatchbayError } from '../../runtime/lib/errors.ts'
import { type AnyRoute, defineRoute, Reply } from '../route.ts'
import { innerRequest } from './inner-request.ts'
import { type OfferedTool, offeredTools, requestOf } from './tools.ts'

const Message = Type.Object({
  jsonrpc: Type.Literal('2.0'),
  id: Type.Optional(Type.Union([Type.String(), Type.Integer()])),
  method: Type.Optional(Type.String()),
  params: Type.Optional(Type.Record(Type.String(), Type.Unknown())),
  result: Type.Optional(Type.Unknown()),
  error: Type.Optional(Type.Unknown()),
})
const Answer = Type.Object({
  jsonrpc: Type.Literal('2.0'),
  id: Type.Optional(Type.Union([Type.String(), Type.Integer(), Type.Null()])),
  result: Type.Optional(Type.Record(Type.String(), Type.Unknown())),
  error: Type.Optional(Type.Record(Type.String(), Type.Unknown())),
})

const bodyExample: Static<typeof Message> = {
  jsonrpc: '2.0',
  id: 1,
  method: 'tools/call',
  params: { name: 'list_agents', arguments: {} },
}
const successExample: Static<typeof Answer> = {
  jsonrpc: '2.0',
  id: 1,
  result: { content: [{ type: 'text', text: '[{"agent_name": "Ava", …}]' }], isError: false },
}

/** What the credentials of the request are in, and what the protocol says of itself. */
const HEADERS = ['x-api-key', 'authorization', 'x-workspace-id', 'mcp-protocol-version', 'x-forwarded-for'] as const

export const mcpRoutes = (routes: () => readonly AnyRoute[]): AnyRoute[] => {
  let tools: OfferedTool[] | undefined
  const mcp = defineRoute({
    method: 'POST',
    path: '/mcp',
    auth: 'jwt_or_key',
    role: 'member',
    scope: 'read',
    whenSuspended: 'served',
    audit: false,
    headers: HEADERS,
    body: Message,
    success: { status: 200, schema: Answer, orStatus: 202 },
    tag: 'MCP',
    summary: 'Patchbay as a server of the Model Context Protocol',
    description:
      'Streamable HTTP without sessions: agents, calls, campaigns and reports as tools. Each is an endpoint of this document, called with the same API key, whose scopes count.',
    examples: { body: bodyExample, success: successExample },
    handler: async (request, { handle }) => {
      tools ??= offeredTools(routes())
      // Loaded with the first message: most installations have no client of this kind.
      const { answerMessage } = await import('./answer.ts')
      const sent = Object.fromEntries(HEADERS.map((name) => [name, request.header(name)]))
      const { status, text } = await answerMessage(request.body, {
        tools,
        protocolVersion: request.header('mcp-protocol-version'),
        run: (tool, input) => {
          const { headers, ...asked } = requestOf(tool, input)
          const from = { remoteAddress: request.clientAddress, signal: request.signal }
          const all = { ...sent, cookie: request.cookies, 'x-request-id': request.id, ...headers }
          return innerRequest({ ...asked, ...from, headers: all }, handle)
        },
      })
      if (status >= 400) throw new PatchbayError('malformed_body', { cause: new Error(text) })
      // A notification is taken and answered by nothing.
      if (text === '') return new Reply({ status })
      return new Reply({ status, body: text, headers: [['content-type', 'application/json; charset=utf-8']] })
    },
  })
  return [mcp]
}
