/**
 * Parts of a call's tokens: read from a cache, written to one, thought; null where no provider said anything of them. And the time
 * zone in which an agent tells the time; empty: UTC.
 */
export const sql = `
alter table calls
  add column llm_cached_read_tokens bigint,
  add column llm_cache_write_tokens bigint,
  add column llm_reasoning_tokens bigint,
  add column llm_estimated_tokens bigint not null default 0;
alter table agents add column timezone text not null default '';
`
