/** How a campaign takes its `call_ratio`, and why a prospect is resolved as it is. */
export const sql = `
alter table campaigns add column pacing text not null default 'predictive';
alter table prospects add column resolution_reason text;
`
