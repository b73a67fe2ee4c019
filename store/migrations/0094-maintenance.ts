/** While it is set no call begins: since when, and the operator's sentence for those who ask why. */
export const sql = `
alter table instance_settings
  add column maintenance_since timestamptz,
  add column maintenance_message text check (char_length(maintenance_message) <= 500);
`
