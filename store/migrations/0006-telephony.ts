/**
 * What phone calls need: who answered and what the carrier calls the call, how an agent meets machines and says that it
 * records, and how many calls a workspace and a number may have at once (null: any).
 */
export const sql = `
alter table agents
  add column voicemail text not null default 'hang_up' check (voicemail in ('hang_up', 'leave_message', 'continue')),
  add column voicemail_message text not null default '',
  add column recording_notice text not null default '',
  add column consent_message text not null default '';
alter table calls
  add column carrier_call_id text,
  add column answered_by text check (answered_by in ('human', 'machine', 'screening', 'unknown')),
  add column consent text check (consent in ('given', 'refused', 'unanswered'));
alter table workspaces add column max_concurrent_calls integer check (max_concurrent_calls >= 0);
alter table phone_numbers add column max_concurrent_calls integer check (max_concurrent_calls >= 0);
`
