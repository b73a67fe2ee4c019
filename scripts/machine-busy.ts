/** Prints `busy` where others keep this machine's processors at work, and nothing where they leave it room; looks for a second. */
import { cpus } from 'node:os'
import { setTimeout as sleep } from 'node:timers/promises'
import { processorTimes } from './processor-load.ts'

const LOOK_MS = 1_000
/** Of all processors' time. */
const BUSY = 0.75

const before = workedMs()
const startedMs = performance.now()
await sleep(LOOK_MS)
// Of the time that passed: while processors wait for disks they are nobody's.
const share = (workedMs() - before) / ((performance.now() - startedMs) * cpus().length)
if (share > BUSY) process.stdout.write('busy\n')

function workedMs(): number {
  const { idle, total } = processorTimes()
  return total - idle
}
