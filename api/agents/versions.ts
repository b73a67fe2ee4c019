import { type Static, Type } from 'typebox'
import { PatchbayError } from '../../runtime/lib/errors.ts'
import { contentColumns } from '../../store/agents/agent-versions.ts'
import { agentDetails } from '../../store/agents/agents.ts'
import {
  deleteVersion,
  draftContent,
  type ListedVersion,
  missingDocuments,
  restoreVersion,
  versionBefore,
  versionByNumber,
  versionsPage,
} from '../../store/agents/versions-page.ts'
import type { Agent, AgentContent } from '../../store/database/schema.ts'
import type { Tenant } from '../../store/database/tenant.ts'
import { CursorPage, CursorQuery, cursorOf, cursorPageOf, lastOf, partOf } from '../cursor.ts'
import { defineRoute } from '../route.ts'
import { ValidationError } from '../schema.ts'
import { testsGate } from '../tests/tests-gate.ts'
import { Detail } from '../workspaces/schema.ts'
import { agentFaults } from './faults.ts'
import { fieldChanges } from './field-changes.ts'
import { publishDraft, publisherOf } from './publish.ts'
import { agent_id, requireAgent } from './require-agent.ts'
import { versionsOfRollout } from './rollout.ts'
import { AgentBody, agentBody, agentExample } from './schema.ts'
import { DiffBody, OF_THE_AGENT, VersionBody, VersionItem } from './version-body.ts'

const tag = 'Agent versions'

const version = { description: 'The number of the version, from 1.', example: '3' } as const

type VersionedAgent = Static<typeof VersionBody>['agent']

const itemExample: Static<typeof VersionItem> = {
  version: 3,
  live: true,
  note: 'Asks for the day first',
  published_by: { id: '0197f3a2-7c1e-7000-8000-000000000001', name: 'Ada Lovelace' },
  published_at: '2026-01-31T09:00:00.000Z',
}
const versionExample: Static<typeof VersionBody> = { ...itemExample, agent: versioned(agentExample, []) }

/** @throws PatchbayError version_not_found */
async function requireVersion(tenant: Tenant, agentId: string, text: string) {
  const found = /^[1-9]\d{0,8}$/.test(text) ? await versionByNumber(tenant, agentId, Number(text)) : undefined
  if (found === undefined) throw new PatchbayError('version_not_found')
  return found
}

function itemBody({ number, note, published_by, created_at }: ListedVersion, agent: Agent): Static<typeof VersionItem> {
  return {
    version: number,
    live: number === agent.live_version,
    note,
    published_by,
    published_at: created_at.toISOString(),
  }
}

/** What a version holds, as agents are shown. */
function contentBody(agent: Agent, content: AgentContent, missing: readonly string[]) {
  const whole = agentBody({ ...agent, ...contentColumns(content), phone_numbers: [], documents: 0 })
  const documents = content.documents.map(({ id, filename }) => {
    return { document_id: id, filename, deleted: missing.includes(id) }
  })
  return versioned(whole, documents)
}

function versioned(whole: Static<typeof AgentBody>, documents: VersionedAgent['documents']): VersionedAgent {
  const fields = Object.entries(whole).filter(([field]) => !(OF_THE_AGENT as readonly string[]).includes(field))
  return { ...Object.fromEntries(fields), documents } as VersionedAgent
}

async function versionBody(tenant: Tenant, agent: Agent, found: ListedVersion & { content: AgentContent }) {
  const missing = await missingDocuments(tenant, agent.id, found.content)
  return { ...itemBody(found, agent), agent: contentBody(agent, found.content, missing) }
}

const list = defineRoute({
  method: 'GET',
  path: '/agents/{agent_id}/versions',
  auth: 'jwt_or_key',
  role: 'member',
  params: { agent_id },
  query: Type.Object(CursorQuery),
  success: { status: 200, schema: CursorPage(VersionItem) },
  errors: ['agent_not_found'],
  tag,
  summary: 'The versions of an agent, newest first',
  examples: { success: { items: [itemExample], total: 1, page: 1, page_size: 25, total_pages: 1 } },
  handler: async ({ params, query, tenant }) => {
    const agent = await requireAgent(tenant, params.agent_id)
    const { versions, total } = await versionsPage(tenant, agent.id, partOf(query, cursorOf(query)))
    const items = versions.map((one) => itemBody(one, agent))
    return cursorPageOf(items, total, query, lastOf(versions))
  },
})

const read = defineRoute({
  method: 'GET',
  path: '/agents/{agent_id}/versions/{version}',
  auth: 'jwt_or_key',
  role: 'member',
  params: { agent_id, version },
  success: { status: 200, schema: VersionBody },
  errors: ['agent_not_found', 'version_not_found'],
  tag,
  summary: 'One version with all that it holds',
  examples: { success: versionExample },
  handler: async ({ params, tenant }) => {
    const agent = await requireAgent(tenant, params.agent_id)
    return versionBody(tenant, agent, await requireVersion(tenant, agent.id, params.version))
  },
})

const diff = defineRoute({
  method: 'GET',
  path: '/agents/{agent_id}/versions/{version}/diff',
  auth: 'jwt_or_key',
  role: 'member',
  params: { agent_id, version },
  query: Type.Object({
    against: Type.Optional(
      Type.String({
        pattern: '^([1-9][0-9]{0,8}|draft|live)$',
        description: 'The number of a version, `draft` or `live`. Default: the version before.',
      }),
    ),
  }),
  success: { status: 200, schema: DiffBody },
  errors: ['agent_not_found', 'version_not_found'],
  tag,
  summary: 'What a version differs in from another, or from the draft',
  examples: {
    success: { version: 3, against: 2, changes: [{ field: 'temperature', from: 0.7, to: 0.2 }] },
  },
  handler: async ({ params, query, tenant }) => {
    const agent = await requireAgent(tenant, params.agent_id)
    const found = await requireVersion(tenant, agent.id, params.version)
    const { against = String((await versionBefore(tenant, agent.id, found.number)) ?? '') } = query
    const number =
      against === 'draft' || against === '' ? null : against === 'live' ? agent.live_version : Number(against)
    const other =
      number === null
        ? against === 'draft' && (await draftContent(tenant, agent.id))
        : (await requireVersion(tenant, agent.id, String(number))).content
    if (!other) return { version: found.number, against: null, changes: [] }
    const isSealedSame = (field: string) =>
      field !== 'tools' || JSON.stringify(other.tools) === JSON.stringify(found.content.tools)
    const [from, to] = [contentBody(agent, other, []), contentBody(agent, found.content, [])]
    return { version: found.number, against: number, changes: fieldChanges(from, to, isSealedSame) }
  },
})

const publish = defineRoute({
  method: 'POST',
  path: '/agents/{agent_id}/publish',
  auth: 'jwt_or_scope',
  role: 'developer',
  scope: 'agents',
  params: { agent_id },
  body: Type.Object({
    note: Type.Optional(Type.String({ maxLength: 2_000, description: 'What changed, for the history.' })),
    require_tests: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 50,
        description: 'Runs the agent’s tests with this tag over the draft first, and publishes it only when all pass.',
      }),
    ),
  }),
  success: { status: 200, schema: VersionBody },
  errors: ['agent_not_found', 'publish_running', 'precondition_failed', 'quota_reached', 'tests_failed', 'timeout'],
  tag,
  summary: 'Make the draft of an agent the version that calls get',
  description: 'A draft that is as the live version makes none; the answer is the live version then.',
  examples: { body: { note: itemExample.note }, success: versionExample },
  handler: async (request, services) => {
    const { params, body, tenant, signal, log } = request
    const gate = body.require_tests === undefined ? {} : { gate: testsGate(body.require_tests) }
    const publication = { by: publisherOf(request), note: body.note ?? '', ...gate }
    const number = await publishDraft(services, tenant, params.agent_id, publication, { signal, log })
    const agent = await requireAgent(tenant, params.agent_id)
    return versionBody(tenant, agent, await requireVersion(tenant, agent.id, String(number)))
  },
})

const restore = defineRoute({
  method: 'POST',
  path: '/agents/{agent_id}/versions/{version}/restore',
  auth: 'jwt_or_scope',
  role: 'developer',
  scope: 'agents',
  params: { agent_id, version },
  query: Type.Object({
    replace: Type.Optional(Type.Boolean({ description: 'Also where that gives up unpublished changes of the draft.' })),
  }),
  success: { status: 200, schema: AgentBody },
  errors: ['agent_not_found', 'version_not_found', 'draft_unpublished'],
  tag,
  summary: 'Make a version the draft of its agent again',
  description:
    'With `publishing: "immediate"` it is live at once, as a new version; else when the draft is published. Documents stay as they are.',
  examples: { success: agentExample },
  handler: async (request, services) => {
    const { params, query, tenant } = request
    const agent = await requireAgent(tenant, params.agent_id)
    const { number, content } = await requireVersion(tenant, agent.id, params.version)
    // Providers or voices may be gone since; sealed headers are as they were.
    const { documents: _, tools: __, ...fields } = contentBody(agent, content, [])
    const faults = await agentFaults(fields, agent, tenant, services)
    if (faults.length > 0) throw new ValidationError(faults)
    const restored = await restoreVersion(tenant, agent.id, content, {
      by: publisherOf(request),
      note: `Version ${number} restored`,
      replace: query.replace ?? false,
    })
    if (restored === 'unpublished') throw new PatchbayError('draft_unpublished')
    const now = restored === 'gone' ? undefined : await agentDetails(tenant, agent.id)
    if (now === undefined) throw new PatchbayError('agent_not_found')
    return agentBody(now)
  },
})

const remove = defineRoute({
  method: 'DELETE',
  path: '/agents/{agent_id}/versions/{version}',
  auth: 'jwt_or_scope',
  role: 'admin',
  scope: 'delete',
  params: { agent_id, version },
  success: { status: 200, schema: Detail },
  errors: ['agent_not_found', 'version_not_found', 'version_in_use'],
  tag,
  summary: 'Delete a version',
  description: 'Calls in which it talks go on with it. The live version and those of the rollout cannot be deleted.',
  examples: { success: { detail: 'Version deleted' } },
  handler: async ({ params, tenant }, { clock }) => {
    const agent = await requireAgent(tenant, params.agent_id)
    const { number } = await requireVersion(tenant, agent.id, params.version)
    const isInRollout = agent.rollout !== null && versionsOfRollout(agent.rollout).has(number)
    if (isInRollout || !(await deleteVersion(tenant, agent.id, number, new Date(clock.nowMs())))) {
      throw new PatchbayError('version_in_use')
    }
    return { detail: 'Version deleted' }
  },
})

export const versionRoutes = [list, read, diff, publish, restore, remove]
