/** A number asks its workspace before it answers. The secret is sealed. Beside it, who listened to a call. */
export const sql = `
alter table phone_numbers
  add column inbound_webhook text,
  add column inbound_webhook_secret text;
alter table calls add column supervisors jsonb not null default '[]';
`
