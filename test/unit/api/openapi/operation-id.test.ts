import t from 'tap'
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
