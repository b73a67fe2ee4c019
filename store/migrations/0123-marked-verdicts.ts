/** What people say of the sentences that a judge has judged: by sentence, 'pass' or 'fail'. */
export const sql = `
alter table test_cases add column marks jsonb;
create index test_cases_marked on test_cases (workspace_id, id) where marks is not null;
`
