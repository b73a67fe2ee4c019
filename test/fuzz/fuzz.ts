import { setTimeout as sleep } from 'node:timers/promises'
import { Random } from './random.ts'
import type { Surface } from './surface.ts'
import { OracleFailure } from './surfaces/backup.ts'
import { type Limits, Watch } from './watch.ts'
import { openWorld } from './world.ts'

export interface FuzzOptions {
  readonly surfaces: readonly Surface[]
  readonly seed: number
  /** For each surface. */
  readonly seconds: number
  readonly limits: Limits
  /** Waits for the memory to be back, up to a minute. */
  readonly memory: boolean
  say(line: string): void
}

/** An attempt that takes longer is left behind: the installation holds what it was asked. */
const ATTEMPT_MS = 60_000
/** What an attack began comes to its effect within this. */
const SETTLE_MS = 1_500

/** Attacks each surface in turn. Resolves with everything that was seen and must not be. */
export async function fuzz({ surfaces, seed, seconds, limits, memory, say }: FuzzOptions): Promise<string[]> {
  const failures: string[] = []
  const world = await openWorld()
  const watch = await Watch.start(world, limits)
  try {
    for (const surface of surfaces) {
      const random = new Random(seed ^ hash(surface.name))
      const attack = await surface.open(world, random)
      const endMs = performance.now() + seconds * 1_000
      let attempts = 0
      const own: string[] = []
      while (performance.now() < endMs && world.instance.child.exitCode === null) {
        attempts += surface.atOnce ?? 1
        const attempt = Promise.all(Array.from({ length: surface.atOnce ?? 1 }, () => attack.attempt()))
        await Promise.race([attempt, sleep(ATTEMPT_MS, undefined, { ref: false })]).catch((error) => {
          if (error instanceof OracleFailure) own.push(error.message)
        })
        await sleep(0)
      }
      await attack.close?.()
      await sleep(SETTLE_MS)
      const { seen, failures: found } = await watch.look()
      failures.push(...[...own, ...found].map((failure) => `${surface.name} (seed ${seed}): ${failure}`))
      say(
        `${surface.name.padEnd(15)} ${String(attempts).padStart(6)} attempts   loop ${seen.longestMs.toFixed(0).padStart(5)} ms, ${seen.over50} of ${seen.asked} over 50, ${seen.over100} over 100   gap ${seen.gapMs.toFixed(0).padStart(4)} ms of ${seen.frames} frames${found.length + own.length === 0 ? '' : `   ${[...own, ...found].join('; ')}`}`,
      )
      if (world.instance.child.exitCode !== null) break
    }
    if (memory) {
      const after = await watch.memory()
      say(`memory          ${after.beforeMiB} MiB before, ${after.afterMiB} after`)
      failures.push(...after.failures)
    }
    if (failures.length > 0) say(`The log ends with:\n${world.instance.output().slice(-6_000)}`)
    return failures
  } finally {
    await watch.close()
    await world.close()
  }
}

function hash(text: string): number {
  let value = 0
  for (const character of text) value = (Math.imul(value, 31) + (character.codePointAt(0) ?? 0)) >>> 0
  return value
}
