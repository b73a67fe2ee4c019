import type { RedisClient } from './client.ts'

/** What API keys of a workspace asked for, newest first: the last thousand requests of a week. */

export const KEPT_REQUESTS = 1_000
const KEEP_MS = 7 * 86_400_000

export interface StoredRequest {
  /** The request's x-request-id. */
  id: string
  /** When its answer was sent. */
  atMs: number
  method: string
  /** The route's path, with the names of its parameters and not their values. */
  path: string
  status: number
  durationMs: number
  key: { id: string; name: string }
  /** Of an answer that is an error: its code and its body. */
  fault?: { code: string; body: string }
}

const keyOf = (workspaceId: string): string => `patchbay:requests:${workspaceId}`

/** @param requests oldest first */
export async function appendRequests(
  redis: RedisClient,
  workspaceId: string,
  requests: readonly StoredRequest[],
): Promise<void> {
  const key = keyOf(workspaceId)
  await redis
    .multi()
    .lPush(
      key,
      requests.map((request) => JSON.stringify(request)),
    )
    .lTrim(key, 0, KEPT_REQUESTS - 1)
    .pExpire(key, KEEP_MS)
    .exec()
}

/** Negative: `a` comes first. */
export function newestRequestFirst(
  a: Pick<StoredRequest, 'id' | 'atMs'>,
  b: Pick<StoredRequest, 'id' | 'atMs'>,
): number {
  if (a.atMs !== b.atMs) return b.atMs - a.atMs
  if (a.id === b.id) return 0
  return a.id < b.id ? 1 : -1
}

/** Newest first. */
export async function storedRequests(redis: RedisClient, workspaceId: string, nowMs: number): Promise<StoredRequest[]> {
  const found = await redis.lRange(keyOf(workspaceId), 0, -1)
  return (
    found
      .map((text) => JSON.parse(text) as StoredRequest)
      .filter(({ atMs }) => atMs > nowMs - KEEP_MS)
      // Each api node writes its own, a second's at once.
      .sort(newestRequestFirst)
  )
}

/** Removes requests whose answer names something, such as the number of a person who is erased. */
export async function eraseRequestsWith(redis: RedisClient, workspaceId: string, name: string): Promise<void> {
  const key = keyOf(workspaceId)
  const named = (await redis.lRange(key, 0, -1)).filter((text) => text.includes(name))
  for (const text of named) await redis.lRem(key, 0, text)
}
