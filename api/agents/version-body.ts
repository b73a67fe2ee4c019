import { Type } from 'typebox'
import { Id, Instant, Nullable } from '../schema.ts'
import { AgentBody } from './schema.ts'

/** Fields of an agent that belong to no version. */
export const OF_THE_AGENT = [
  'agent_id',
  'workspace_id',
  'agent_name',
  'public',
  'publishing',
  'version',
  'unpublished_changes',
  'warnings',
  'phone_numbers',
  'documents',
  'created_at',
  'updated_at',
] as const

export const VersionItem = Type.Object({
  version: Type.Integer({ description: 'From 1; a number is never used again.' }),
  live: Type.Boolean({ description: 'Calls get it, unless a rollout says otherwise.' }),
  note: Type.String(),
  published_by: Nullable(
    Type.Object(
      { id: Type.String(), name: Type.String() },
      { description: 'A user or an API key; null: Patchbay, when documents were added or removed.' },
    ),
  ),
  published_at: Instant,
})

const VersionedDocument = Type.Object({
  document_id: Id,
  filename: Type.String(),
  deleted: Type.Boolean({ description: 'The agent has it no more.' }),
})

export const VersionBody = Type.Object({
  ...VersionItem.properties,
  agent: Type.Object({
    ...Type.Omit(AgentBody, OF_THE_AGENT).properties,
    documents: Type.Array(VersionedDocument),
  }),
})

export const DiffBody = Type.Object({
  version: Type.Integer(),
  against: Nullable(Type.Integer({ description: 'Null: nothing, as it is the first; with `draft`, the draft.' })),
  changes: Type.Array(
    Type.Object({
      field: Type.String(),
      from: Type.Unknown({ description: 'In `against`.' }),
      to: Type.Unknown({ description: 'In `version`.' }),
      patch: Type.Optional(Type.String({ description: 'Of a text of several lines: a unified diff of it.' })),
      secret: Type.Optional(Type.Literal(true, { description: 'It differs in secrets, which are not shown.' })),
    }),
  ),
})
