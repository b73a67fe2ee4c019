import { setTimeout as sleep } from 'node:timers/promises'

/** Of what is asked over HTTP, from processes that may be busy. */
const EVERY_MS = 100
const TIMEOUT_MS = 120_000

/** Resolves once the condition holds. Throws with `what`, or the condition itself, when it never does. */
export async function waitUntil(
  condition: () => boolean | Promise<boolean>,
  what: () => string = () => String(condition),
  { everyMs = EVERY_MS, timeoutMs = TIMEOUT_MS } = {},
): Promise<void> {
  const endMs = performance.now() + timeoutMs
  while (!(await condition())) {
    if (performance.now() > endMs) throw new Error(`Waited in vain for ${what()}`)
    await sleep(everyMs)
  }
}
