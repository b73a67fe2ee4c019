/**
 * Which pool of voice workers serves an agent, a workspace, or a region, which is the beginning of a number of ours (`+49`).
 * The most specific row counts; without one it is the pool without a name.
 */
export const sql = `
create table worker_pools (
  kind text not null check (kind in ('agent', 'workspace', 'region')),
  key text not null,
  pool text not null check (pool ~ '^[a-z0-9][a-z0-9-]{0,31}$'),
  primary key (kind, key)
);

create function worker_pool_of(agent uuid, workspace uuid, number text) returns text language sql stable as $$
  select coalesce((
    select p.pool from worker_pools p
    where (p.kind = 'agent' and p.key = agent::text) or (p.kind = 'workspace' and p.key = workspace::text)
      or (p.kind = 'region' and starts_with(number, p.key))
    order by array_position('{agent,workspace,region}', p.kind), length(p.key) desc limit 1), '')
$$;
`
