import { type RawBuilder, sql } from 'kysely'

/** Places in lists that are sorted by a time, then by id. */

export interface ListPlace {
  readonly id: string
  /** Of the item there, as `exactly` reads it. */
  readonly at?: string
}

/** The part of a list that is asked for: what comes behind the place, or, without one, after `offset` items. */
export interface ListPart {
  readonly offset: number
  readonly limit: number
  readonly after?: ListPlace | undefined
}

/** A time with its microseconds, which a Date doesn't have: ISO 8601. */
export function exactly(column: string): RawBuilder<string> {
  return sql<string>`to_char(${sql.ref(column)} at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')`
}

/** What comes behind the place. */
export function beyond(column: string, sign: '<' | '>', { id, at = '' }: ListPlace): RawBuilder<boolean> {
  const place = sql`(${at}::timestamptz, ${id}::uuid)`
  return sign === '<'
    ? sql<boolean>`(${sql.ref(column)}, ${sql.ref('id')}) < ${place}`
    : sql<boolean>`(${sql.ref(column)}, ${sql.ref('id')}) > ${place}`
}

/** How a list is sorted, where not in its own order. */
export interface ListOrder<By extends string> {
  by: By
  direction: 'asc' | 'desc'
}
