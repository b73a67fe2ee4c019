import { setTimeout as sleep } from 'node:timers/promises'

/** How long each stage is waited for. A stage with another provider behind it is given up sooner. */
export const PATIENCE = {
  llmFirstTokenMs: { alone: 8_000, backed: 3_500 },
  llmNextTokenMs: { alone: 8_000, backed: 4_000 },
  ttsFirstAudioMs: { alone: 6_000, backed: 2_500 },
  ttsNextAudioMs: { alone: 6_000, backed: 3_000 },
} as const

/** Tries at one provider in a row, as long as nothing was said. */
export const MAX_TRIES = 2
const RETRY_MS = 150

/** The wait before another try: 75 to 225 ms, so that many calls don't come back at once. Throws the signal's reason. */
export async function beforeRetry(random: () => number, signal: AbortSignal): Promise<void> {
  await sleep(RETRY_MS * (0.5 + random()), undefined, { signal })
}

/** A stage that gave nothing for too long. Judged as `transient`. */
export class StageTimeout extends Error {
  override readonly name = 'StageTimeoutError'
  readonly code = 'timeout'
}

/** What comes within the limit, or StageTimeout. */
export async function within<T>(limitMs: number, what: string, coming: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new StageTimeout(`${what} took over ${limitMs} ms`)), limitMs)
  })
  try {
    return await Promise.race([coming, late])
  } finally {
    clearTimeout(timer)
  }
}
