/** More of who picks up an outbound call: a full mailbox, a menu, a fax. */
export const sql = `
alter table calls drop constraint if exists calls_answered_by_check;
alter table calls add constraint calls_answered_by_check check (
  answered_by in ('human', 'machine', 'screening', 'mailbox_full', 'ivr', 'fax', 'unknown')
) not valid;
`
