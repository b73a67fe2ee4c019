/** Who vouches for a trunk's server over TLS: certificates in PEM, in place of those that are trusted anyhow. */
export const sql = `
alter table trunks add column tls_ca text;
`
