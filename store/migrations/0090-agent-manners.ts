/** Whether an agent says that it is an AI, on what terms it is with callers, and its own sentences. */
export const sql = `
alter table agents
  add column ai_disclosure text not null default 'auto' check (ai_disclosure in ('auto', 'before', 'after', 'off')),
  add column register text not null default 'formal' check (register in ('formal', 'informal')),
  add column phrases jsonb not null default '{}' check (jsonb_typeof(phrases) = 'object');
`
