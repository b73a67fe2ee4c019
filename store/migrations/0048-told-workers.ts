/** The voice workers announced to operators, so that each is announced once, whichever process sees it first. */
export const sql = `
create table told_workers (
  worker_id text primary key,
  capacity integer not null,
  told_at timestamptz not null default now()
);
`
