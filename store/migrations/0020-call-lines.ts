/** What the carrier knows of a call, and how its line was: as its log's events `carrier` and `media` say it. */
export const sql = `
alter table calls add column carrier jsonb;
alter table calls add column quality jsonb;
`
