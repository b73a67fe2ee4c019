/**
 * A refresh token is good until its session ends, so the ones that were traded for a successor must not come back to life. `rotated_at`
 * stays as long as nodes of the version before may write it.
 */
export const sql = `
delete from refresh_tokens where rotated_at is not null;
`
