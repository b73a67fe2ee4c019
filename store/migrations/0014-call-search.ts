/**
 * Columns of the call search's indexes, newest first. None of these changes while a call runs, so that its writes stay cheap: numbers
 * and campaign are set when it is made, disposition and a status that is for good when it ends.
 */
export const sql = `
create index calls_by_from_number on calls (workspace_id, from_number, created_at desc, id desc)
  where from_number is not null;
create index calls_by_to_number on calls (workspace_id, to_number, created_at desc, id desc)
  where to_number is not null;
create index calls_by_campaign on calls (workspace_id, campaign_slug, created_at desc, id desc)
  where campaign_slug is not null;
create index calls_by_disposition on calls (workspace_id, disposition, created_at desc, id desc)
  where disposition is not null;
create index calls_by_end on calls (workspace_id, status, created_at desc, id desc)
  where status not in ('queued', 'ringing', 'in_progress');
`
