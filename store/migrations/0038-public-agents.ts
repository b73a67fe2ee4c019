/** Agents that anybody may talk to from a browser: from which origins, and how often. Null: nobody without a key. */
export const sql = `
alter table agents
  add column public_access jsonb check (jsonb_typeof(public_access) = 'object');

-- Live web calls of one agent are counted each time somebody opens another one.
create index calls_live_web on calls (agent_id) where call_type = 'web' and ended_at is null;
`
