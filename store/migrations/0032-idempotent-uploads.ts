/** The id of the resource a key's request will create, fixed in advance, so that a retry can look for it. */
export const sql = `
alter table idempotency_keys add column effect_id uuid;
`
