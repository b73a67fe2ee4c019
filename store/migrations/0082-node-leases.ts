/** What each api node says to hold: the second witness, beside the leases in Redis, of a call whose node lives. */
export const sql = `
create table node_leases (
  node_id uuid primary key,
  calls uuid[] not null,
  renewed_at timestamptz not null default now()
);
`
