/** The language of mails to a user. */
export const sql = `
alter table users add column language text;
`
