/** Documents of agents: the upload until it is read, its passages, and the index of the embedded vector store. */
export const sql = `
-- Grows with every change of what retrieval may find, so that caches of an agent's index know when to look again.
alter table agents add column knowledge_version bigint not null default 0;

create table documents (
  id uuid primary key,
  workspace_id uuid not null references workspaces (id) on delete cascade,
  agent_id uuid not null references agents (id) on delete cascade,
  filename text not null,
  format text not null,
  size_bytes bigint not null,
  status text not null check (status in ('processing', 'ready', 'failed')),
  chunk_count integer not null default 0,
  error text,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now()
);
create index documents_agent on documents (agent_id, id);
create index documents_workspace on documents (workspace_id);
create index documents_processing on documents (created_at) where status = 'processing';

-- The bytes of a file while it arrives and until it is read. An upload has the id its document will get.
create table uploads (
  id uuid primary key,
  workspace_id uuid not null references workspaces (id) on delete cascade,
  agent_id uuid not null references agents (id) on delete cascade,
  created_at timestamptz not null default now()
);
create index uploads_agent on uploads (agent_id);
create index uploads_workspace on uploads (workspace_id);
create index uploads_created on uploads (created_at);

create table upload_parts (
  upload_id uuid not null references uploads (id) on delete cascade,
  workspace_id uuid not null,
  seq integer not null,
  bytes bytea not null,
  primary key (upload_id, seq)
);
alter table upload_parts alter column bytes set storage external;

create table chunks (
  document_id uuid not null references documents (id) on delete cascade,
  workspace_id uuid not null,
  seq integer not null,
  text text not null,
  primary key (document_id, seq)
);

-- Inverted indexes of up to 256 chunks each (runtime/knowledge/segment.ts).
create table vector_segments (
  id bigint generated always as identity unique,
  document_id uuid not null references documents (id) on delete cascade,
  workspace_id uuid not null,
  agent_id uuid not null,
  first_chunk integer not null,
  bytes bytea not null,
  primary key (document_id, first_chunk)
);
create index vector_segments_agent on vector_segments (agent_id);
`
