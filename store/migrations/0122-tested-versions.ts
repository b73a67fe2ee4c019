/** Which version of the agent a run of tests was of. Null: a draft that was not published as it was. */
export const sql = `
alter table test_runs add column agent_version integer;
update test_runs set agent_version = version::integer where version ~ '^[0-9]{1,9}$';
`
