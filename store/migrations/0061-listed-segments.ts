/** The index of an agent is listed page by page, in this order. */
export const sql = `
create index vector_segments_listed on vector_segments (agent_id, document_id, first_chunk);
drop index vector_segments_agent;
`
