/** What the chats of a workspace cost in a month (UTC), which outlives their messages: it counts for the month's quota. */
export const sql = `
create table chat_spending (
  workspace_id uuid not null references workspaces (id) on delete cascade,
  month date not null,
  cost_usd double precision not null default 0,
  primary key (workspace_id, month)
);
insert into chat_spending (workspace_id, month, cost_usd)
  select m.workspace_id, date_trunc('month', now() at time zone 'utc')::date, sum(m.cost_llm)
  from chat_messages m join workspaces w on w.id = m.workspace_id
  where m.cost_llm > 0 and m.created_at >= date_trunc('month', now() at time zone 'utc') at time zone 'utc'
  group by m.workspace_id;
`
