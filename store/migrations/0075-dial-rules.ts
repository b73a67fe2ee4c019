/**
 * Destinations a workspace may call: the operator's limit and the workspace's own; null: no limit. And how many bought numbers it may
 * have. Workspaces that are there already keep calling every country.
 */
export const sql = `
alter table workspace_quotas
  add column dial_countries text[],
  add column dial_number_types text[],
  add column bought_numbers integer;
update workspace_quotas set dial_countries = '{*}';
alter table workspaces
  add column dial_countries text[],
  add column dial_number_types text[];
`
