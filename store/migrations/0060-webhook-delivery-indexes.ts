/** Each delivery is written three times, and each time into each of its indexes: three of them do what five did. */
export const sql = `
drop index webhook_deliveries_newest;
drop index webhook_deliveries_workspace;
drop index webhook_deliveries_old;
alter table webhook_deliveries drop constraint webhook_deliveries_pkey;
alter table webhook_deliveries add primary key (workspace_id, webhook_id, id);
create index webhook_deliveries_old on webhook_deliveries using brin (created_at);
`
