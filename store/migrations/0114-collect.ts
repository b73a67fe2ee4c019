/** What an agent collects from callers, what it never says, and what a chat has collected. */
export const sql = `
alter table agents
  add column collect jsonb not null default '[]' check (jsonb_typeof(collect) = 'array'),
  add column guardrails jsonb not null default '{}' check (jsonb_typeof(guardrails) = 'object');
alter table chats
  add column collected jsonb not null default '{}' check (jsonb_typeof(collected) = 'object');
`
