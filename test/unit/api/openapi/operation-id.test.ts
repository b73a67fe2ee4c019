import t from 'tap'
import { RENAMED } from '../../../../api/openapi/name-parts.ts'
import { openApiDocument } from '../../../../api/openapi/openapi.ts'
import { operationId } from '../../../../api/openapi/operation-id.ts'
import { routes } from '../../../../api/routes.ts'

t.test('operations are called what they do', async (t) => {
  const names = [
    ['GET', '/agents', 'listAgents'],
    ['POST', '/agents', 'createAgent'],
    ['GET', '/agents/{agent_id}', 'getAgent'],
    ['PATCH', '/agents/{agent_id}', 'updateAgent'],
    ['DELETE', '/agents/{agent_id}/documents/{document_id}', 'deleteAgentDocument'],
    ['POST', '/batch/{batch_id}/send', 'sendBatch'],
    ['GET', '/batch/{batch_id}/items', 'listBatchItems'],
    ['GET', '/calls/{call_log_id}/recording', 'getCallRecording'],
    ['GET', '/api/v/campaign/{slug}/status/', 'getCampaignStatus'],
    ['PATCH', '/workspaces/{workspace_id}/retention', 'updateWorkspaceRetention'],
  ] as const
  for (const [method, path, name] of names) t.equal(operationId({ method, path }), name)
})

t.test('every operation has a name of its own, short and without the way to it', async (t) => {
  const names = routes.map(operationId)
  t.equal(new Set(names).size, names.length)
  for (const name of names) t.match(name, /^[a-z][A-Za-z]{2,34}$/)
})

t.test('types have names, and what is the same has one', async (t) => {
  const document = openApiDocument(routes, { publicUrl: 'http://localhost:8080', version: '1.0.0' })
  const { schemas } = document.components as { schemas: Record<string, { properties?: object }> }
  for (const name of [
    'Agent',
    'Call',
    'Batch',
    'Campaign',
    'Chat',
    'Document',
    'PhoneNumber',
    'Trunk',
    'Workspace',
    'CreateAgentInput',
  ]) {
    t.ok(schemas[name]?.properties, name)
  }
  const text = JSON.stringify(document.paths)
  t.ok((text.match(/#\/components\/schemas\/Agent"/g) ?? []).length >= 4, 'every answer with an agent refers to it')
  t.notMatch(text, '"system_prompt":{"', 'no agent is described beside it')
  for (const [, name = ''] of text.matchAll(/"\$ref":"#\/components\/schemas\/(\w+)"/g)) t.ok(schemas[name], name)
  t.same(
    JSON.stringify(document),
    JSON.stringify(openApiDocument(routes, { publicUrl: 'http://localhost:8080', version: '1.0.0' })),
  )
})

t.test('parts of types have names, too: every enum and every object, once, by who has it', async (t) => {
  const document = openApiDocument(routes, { publicUrl: 'http://localhost:8080', version: '1.0.0' })
  const { schemas } = document.components as { schemas: Record<string, Record<string, unknown>> }
  const nameless: string[] = []
  const visit = (at: unknown, path: string): void => {
    if (typeof at !== 'object' || at === null) return
    const one = at as Record<string, unknown>
    const isPart = path.includes('/')
    if (isPart && one.type === 'string' && Array.isArray(one.enum) && one.enum.length > 1) nameless.push(path)
    if (isPart && one.type === 'object' && Object.keys(one.properties ?? {}).length > 1) nameless.push(path)
    for (const [key, value] of Object.entries(one))
      if (!/^examples?$|^default$/.test(key)) visit(value, `${path}/${key}`)
  }
  for (const [name, schema] of Object.entries(schemas)) visit(schema, name)
  t.same(nameless, [])
  for (const name of Object.keys(schemas)) t.match(name, /^[A-Z][A-Za-z]+$/, 'no two want one name')
  for (const [plain, name] of Object.entries(RENAMED)) {
    t.ok(schemas[name], name)
    t.notOk(schemas[plain], plain)
  }
  t.match(schemas.CallStatus, { type: 'string', enum: ['queued', 'ringing'] })
  const { AgentTool, CreateAgentInput, Agent } = schemas as Record<
    string,
    { properties: Record<string, { items?: object }> }
  >
  t.match(AgentTool?.properties.type, { $ref: '#/components/schemas/AgentToolType' })
  t.same(CreateAgentInput?.properties.tools?.items, Agent?.properties.tools?.items)
})

t.test('lists and pages of them have names, and so have answers that only say they are done', async (t) => {
  const document = openApiDocument(routes, { publicUrl: 'http://localhost:8080', version: '1.0.0' })
  const paths = document.paths as Record<string, Record<string, { responses: Record<string, unknown> }>>
  const answer = (path: string, method: string) => {
    const success = paths[path]?.[method]?.responses['200'] as
      | { content: Record<string, { schema: unknown }> }
      | undefined
    return Object.values(success?.content ?? {})[0]?.schema
  }
  const ref = (name: string) => ({ $ref: `#/components/schemas/${name}` })
  t.same(answer('/agents', 'get'), { anyOf: [{ type: 'array', items: ref('Agent') }, ref('AgentPage')] })
  t.same(answer('/calls/logs', 'get'), ref('CallPage'))
  t.same(answer('/agents/{agent_id}', 'delete'), ref('Done'))
  t.same(answer('/voices/sample', 'post'), { type: 'string', format: 'binary' })
})
