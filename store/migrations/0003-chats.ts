/** Text conversations. A chat outlives its agent, as a call does. */
export const sql = `
create table chats (
  id uuid primary key,
  workspace_id uuid not null references workspaces (id) on delete cascade,
  agent_id uuid not null,
  session_id text not null,
  message_count integer not null default 0,
  last_message text not null default '',
  -- Given once, they hold for the whole session.
  dynamic_variables jsonb not null default '{}',
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  unique (workspace_id, agent_id, session_id)
);
create index chats_workspace on chats (workspace_id, id desc);
create index chats_workspace_agent on chats (workspace_id, agent_id, id desc);
create index chats_workspace_session on chats (workspace_id, session_id, id desc);

create table chat_messages (
  chat_id uuid not null references chats (id) on delete cascade,
  workspace_id uuid not null,
  seq integer not null,
  role text not null check (role in ('user', 'assistant')),
  content text not null,
  -- Of the model's call that made the message.
  llm_input_tokens bigint not null default 0,
  llm_output_tokens bigint not null default 0,
  created_at timestamptz not null default now(),
  primary key (chat_id, seq)
);
`
