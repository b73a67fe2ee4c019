import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import type { RedisClient } from '../client.ts'

/**
 * The Lua scripts of this folder, `<name>-<number of keys>.lua`. Each says its KEYS, ARGV and output at its head, takes its
 * keys in one hash slot, and knows no clock but Redis' own TIME.
 */

interface Script {
  run(redis: RedisClient, keys: readonly string[], args: readonly (string | number)[]): Promise<unknown>
}

/** Reads a script of this folder. Redis gets its text the first time, and again after a restart. */
export function loadScript(file: string): Script {
  const text = readFileSync(new URL(file, import.meta.url), 'utf8')
  const sha = createHash('sha1').update(text).digest('hex')
  const keyCount = Number(/-(\d+)\.lua$/.exec(file)?.[1])
  return {
    async run(redis, keys, args) {
      if (keys.length !== keyCount) throw new RangeError(`"${file}" takes ${keyCount} keys, not ${keys.length}`)
      const options = { keys: [...keys], arguments: args.map(String) }
      try {
        return await redis.evalSha(sha, options)
      } catch (error) {
        if (!(error instanceof Error) || !error.message.startsWith('NOSCRIPT')) throw error
        return redis.eval(text, options)
      }
    },
  }
}
