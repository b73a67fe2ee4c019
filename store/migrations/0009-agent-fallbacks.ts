/** Who takes over when an agent's provider fails: per stage, providers with their models or voices, in order. */
export const sql = `
alter table agents add column fallbacks jsonb not null default '{}' check (jsonb_typeof(fallbacks) = 'object');
`
