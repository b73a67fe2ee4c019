/**
 * Batches that pause, and rows that are called again. A row that waits to be called again keeps its item, whose call is that
 * of its next try once it is taken.
 */
export const sql = `
alter table batches drop constraint batches_status_check;
alter table batches add constraint batches_status_check
  check (status in ('pending', 'scheduled', 'running', 'paused', 'completed', 'canceled'));

alter table batch_items drop constraint batch_items_status_check;
alter table batch_items add constraint batch_items_status_check
  check (status in ('waiting', 'in_progress', 'completed', 'failed'));
create index batch_items_waiting on batch_items (batch_id, seq) where status = 'waiting';
`
