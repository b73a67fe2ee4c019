/** The column mapping of an upload, and who confirmed that everyone in the file agreed to be called. */
export const sql = `
alter table prospect_uploads
  add column mapping jsonb not null default '{}',
  add column attested_by text,
  add column attested_at timestamptz;
`
