/** The id that what a key's request makes will have, fixed before it is made: whoever comes later can look whether it is there. */
export const sql = `
alter table idempotency_keys add column effect_id uuid;
`
