/** Links by which somebody signs up as a member of a workspace; null: of none but their own. */
export const sql = `
alter table one_time_links
  add column workspace_id uuid references workspaces (id) on delete cascade,
  add column role text check (role in ('member', 'developer', 'admin'));
create index one_time_links_workspace on one_time_links (workspace_id) where workspace_id is not null;
`
