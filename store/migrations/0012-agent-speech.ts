/** How an agent listens and speaks: its language, its manners in turn-taking, its own limits and its words. */
export const sql = `
alter table agents
  add column language text not null default 'en' check (length(language) between 2 and 35),
  add column interruption jsonb not null default '{}' check (jsonb_typeof(interruption) = 'object'),
  add column endpointing text not null default 'balanced' check (endpointing in ('eager', 'balanced', 'patient')),
  add column dead_air jsonb not null default '{}' check (jsonb_typeof(dead_air) = 'object'),
  add column max_duration_s integer check (max_duration_s > 0),
  add column idle_timeout_s integer check (idle_timeout_s > 0),
  add column keyterms jsonb not null default '[]' check (jsonb_typeof(keyterms) = 'array'),
  add column pronunciation jsonb not null default '[]' check (jsonb_typeof(pronunciation) = 'array');
`
