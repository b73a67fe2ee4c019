/** Prints `busy` where others keep this machine's processors at work, and nothing where they leave it room; looks for a second. */
import { cpus } from 'node:os'
import { setTimeout as sleep } from 'node:timers/promises'

const LOOK_MS = 1_000
/** Of all processors' time. */
const BUSY = 0.75

const before = workedMs()
const startedMs = performance.now()
await sleep(LOOK_MS)
const share = (workedMs() - before) / ((performance.now() - startedMs) * cpus().length)
if (share > BUSY) process.stdout.write('busy\n')

/** Without the time they waited for disks, which is nobody's work. */
function workedMs(): number {
  return cpus().reduce((sum, { times: { user, nice, sys, irq } }) => sum + user + nice + sys + irq, 0)
}
