/** Whether an agent's calls are recorded, and how it stands with the recording of a call. */
export const sql = `
alter table agents
  add column recording text not null default 'default' check (recording in ('default', 'on', 'off'));
alter table calls add column recording text;
`
