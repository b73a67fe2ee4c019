/** How we present ourselves to a trunk and what its calls may do (runtime/plugin-sdk/telephony/trunk-settings.ts), and a client's key. */
export const sql = `
alter table trunks add column settings jsonb not null default '{}';
alter table trunks add column tls_key text;
`
