import type { RedisClient } from '../../../store/redis/client.ts'

/** How many messages stand in the lines of all chats, those being answered included. */
export async function messagesInLine(redis: RedisClient): Promise<number> {
  const lines = await redis.keys('patchbay:{chat:*}:line')
  const lengths = await Promise.all(lines.map((line) => redis.zCard(line)))
  return lengths.reduce((sum, length) => sum + length, 0)
}
