/** Agents open to the public from a browser: from which origins, and how often. Null: a key is required. */
export const sql = `
alter table agents
  add column public_access jsonb check (jsonb_typeof(public_access) = 'object');

-- Live web calls of one agent are counted each time somebody opens another one.
create index calls_live_web on calls (agent_id) where call_type = 'web' and ended_at is null;
`
