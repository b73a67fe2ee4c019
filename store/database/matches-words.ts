import { sql } from 'kysely'

/**
 * Whether a text has these words: all of them, the last one as it begins, `"in quotes"` in this order and `-word` not. `column` is one
 * that has an index over `to_tsvector('simple', …)`.
 */
export const matchesWords = (column: string, words: string) =>
  sql<boolean>`to_tsvector('simple', ${sql.ref(column)}) @@ ${prefixQuery(words)}`

/** The words as a search engine takes them; null where none is left to search for. */
const prefixQuery = (words: string) =>
  sql`(nullif(websearch_to_tsquery('simple', ${words})::text, '') || ':*')::tsquery`
