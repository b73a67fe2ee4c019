import { sql } from 'kysely'

/**
 * Among what a statement of its own returns: its commit does not wait for the disk. For what counts only once a later commit that waits
 * refers to it, which brings all before it to the disk, and for what may be half a second short after the machine fell. Within a
 * transaction it is the whole of it that doesn't wait. https://www.postgresql.org/docs/current/wal-async-commit.html
 */
export const ASYNC_COMMIT = `set_config('synchronous_commit', 'off', true)`

/** The same, for the query builder. */
export const asyncCommit = sql.raw<string>(ASYNC_COMMIT).as('async_commit')
