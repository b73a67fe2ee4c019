/** What the model's call that made a message cost; null where that isn't known. */
export const sql = `
alter table chat_messages add column cost_llm double precision;
`
