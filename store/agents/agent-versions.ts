import { type Kysely, type RawBuilder, sql } from 'kysely'
import { ByteCache } from '../../runtime/lib/byte-cache.ts'
import type { Agent, AgentContent, AllTables } from '../database/schema.ts'
import type { Tenant } from '../database/tenant.ts'

/** The row of an agent is its draft; versions are made from it and never change. */

/**
 * The columns of `agents` that are content of a version. For a column that came after the first versions: the value that versions without
 * it have.
 */
export const VERSIONED_COLUMNS = {
  llm_provider: undefined,
  llm_model: undefined,
  temperature: undefined,
  system_prompt: undefined,
  first_message: undefined,
  stt_provider: undefined,
  stt_model: undefined,
  tts_provider: undefined,
  tts_voice: undefined,
  tools: undefined,
  fallbacks: undefined,
  voicemail: undefined,
  voicemail_message: undefined,
  recording_notice: undefined,
  consent_message: undefined,
  language: undefined,
  interruption: undefined,
  timezone: undefined,
  endpointing: undefined,
  dead_air: undefined,
  max_duration_s: undefined,
  idle_timeout_s: undefined,
  keyterms: undefined,
  pronunciation: undefined,
  ai_disclosure: undefined,
  register: undefined,
  phrases: undefined,
  analysis: undefined,
  procedures: [],
  transcribe: 'own',
  collect: [],
  guardrails: {},
  recording: 'default',
} satisfies Partial<Record<keyof Agent, unknown>>

/** The columns that hold for an agent whatever version is live: a change of them is at once. */
export const UNVERSIONED_COLUMNS = [
  'id',
  'workspace_id',
  'agent_name',
  'public_access',
  'knowledge_version',
  'created_at',
  'updated_at',
  'publishing',
  'live_version',
  'live_digest',
  'unpublished',
  'rollout',
] as const satisfies readonly (keyof Agent)[]

/** Who publishes: a user or an API key. */
export interface Publisher {
  id: string
  name: string
}

interface Publication {
  /** Null: Patchbay itself. */
  by: Publisher | null
  note?: string
  /** Publishes also where `publishing` is `manual`. */
  isAsked?: boolean
  /** Of the draft that is to be published; another one is not. */
  digest?: string
}

/** What of an agent is live after a change of its draft. */
interface LiveState {
  version: number | null
  /** The draft is another. */
  unpublished: boolean
  /** This change made the version. */
  isNew: boolean
}

const DIGEST = sql`encode(sha256(convert_to(content::text, 'UTF8')), 'hex')`

/** What a version of the draft would hold, and what is live, as a query of one row. */
export function draftOf(workspaceId: string, agentId: string): RawBuilder<unknown> {
  return sql`
    select a.id, a.live_version, a.live_digest, a.publishing,
      to_jsonb(a) - ${[...UNVERSIONED_COLUMNS]}::text[] || jsonb_build_object('documents', coalesce((
        select jsonb_agg(jsonb_build_object('id', d.id, 'filename', d.filename) order by d.id)
        from documents d where d.agent_id = a.id and d.status = 'ready'), '[]')) as content
    from agents a where a.id = ${agentId} and a.workspace_id = ${workspaceId}`
}

/**
 * Publishes the draft where it is to be live, unless it is as the live version. To be called in the transaction of every change of an
 * agent's content or documents, which holds the agent's row. Undefined: there is no such agent.
 */
export async function settleDraft(
  { workspaceId, db }: { workspaceId: string; db: Kysely<AllTables> },
  agentId: string,
  { by, note = '', isAsked = false, digest }: Publication,
): Promise<LiveState | undefined> {
  const { rows } = await sql<LiveState>`
    with draft as materialized (
      select of_agent.*, ${DIGEST} as digest, publishing = 'immediate' or ${isAsked} as goes_live
      from (${draftOf(workspaceId, agentId)}) as of_agent
    ),
    next as (
      select d.*, coalesce((select max(v.number) from agent_versions v where v.agent_id = d.id), 0) + 1 as number
      from draft d where d.goes_live and d.live_digest is distinct from d.digest
        and d.digest = coalesce(${digest ?? null}::text, d.digest)
    ),
    made as (
      insert into agent_versions (agent_id, workspace_id, number, content, digest, note, published_by)
      select id, ${workspaceId}, number, content, digest, ${note}, ${by === null ? null : JSON.stringify(by)}::jsonb
      from next
    )
    update agents a set live_version = coalesce(n.number, a.live_version), live_digest = coalesce(n.digest, a.live_digest),
      unpublished = n.number is null and d.digest is distinct from d.live_digest
    from draft d left join next n on true
    where a.id = d.id and a.workspace_id = ${workspaceId}
    returning a.live_version as version, a.unpublished, n.number is not null as "isNew"`.execute(db)
  return rows[0]
}

/** Names what the draft holds now; undefined: there is no such agent. */
export async function draftDigest({ workspaceId, db }: Tenant, agentId: string): Promise<string | undefined> {
  const { rows } = await sql<{ digest: string }>`
    select ${DIGEST} as digest from (${draftOf(workspaceId, agentId)}) as draft`.execute(db)
  return rows[0]?.digest
}

interface KeptContent {
  content: AgentContent
  documents: ReadonlySet<string>
}

/** Beside its text, a document in a set. */
const SET_ENTRY_BYTES = 64

/** What was read lately: a version never changes. */
const contents = new ByteCache<KeptContent>({
  mostEntries: 1_000,
  mostBytes: 32 * 1024 * 1024,
  // A version with 10,000 documents of long names is kept.
  mostBytesOfOwner: 8 * 1024 * 1024,
})

/** The agent as a version has it; what belongs to no version is as in the row. Undefined: there is no such version. */
export async function agentOfVersion(tenant: Tenant, agent: Agent, number: number): Promise<Agent | undefined> {
  const kept = await keptContent(tenant, agent.id, number)
  return kept && { ...agent, ...contentColumns(kept.content) }
}

/** The ids of the documents that a version was made with, also of those that were deleted since; none where there is no such version. */
export async function documentsOfVersion(
  tenant: Tenant,
  agentId: string,
  number: number,
): Promise<ReadonlySet<string>> {
  return (await keptContent(tenant, agentId, number))?.documents ?? new Set()
}

async function keptContent(tenant: Tenant, agentId: string, number: number): Promise<KeptContent | undefined> {
  const key = `${tenant.workspaceId}/${agentId}/${number}`
  const known = contents.get(key)
  if (known !== undefined) return known
  const row = await tenant.db
    .selectFrom('agent_versions')
    .select(['content', sql<number>`octet_length(content::text)`.as('bytes')])
    .where('agent_id', '=', agentId)
    .where('number', '=', number)
    .executeTakeFirst()
  if (row === undefined) return undefined
  const documents = new Set(row.content.documents.map(({ id }) => id))
  const kept = { content: row.content, documents }
  contents.set(key, kept, { owner: tenant.workspaceId, bytes: row.bytes + documents.size * SET_ENTRY_BYTES })
  return kept
}

/** The columns of a version. */
export function contentColumns(content: AgentContent): Partial<Agent> {
  const entries = Object.entries(VERSIONED_COLUMNS).map(([column, absent]) => [
    column,
    content[column] ?? absent ?? null,
  ])
  return Object.fromEntries(entries)
}
