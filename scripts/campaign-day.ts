/**
 * Plays a day of a campaign on a fast clock: the dialer's own turns, claims, checks and retries on a real database, with
 * simulated people at the other end. Prints the day as it goes; exits with 0 only if every promise held.
 */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { campaignDay } from './campaign-day/day.ts'

const folder = await mkdtemp(join(tmpdir(), 'patchbay-day-'))
const live = process.stdout.isTTY
let lastLine = ''
try {
  const { broken, summary } = await campaignDay(folder, {
    searchPath: process.env.PATH,
    show(line) {
      if (live) process.stdout.write(`\r\x1b[2K${line}`)
      else if (line.slice(0, 5) !== lastLine.slice(0, 5)) process.stdout.write(`${line}\n`)
      lastLine = line
    },
  })
  process.stdout.write(`${live ? '\n' : ''}\n${summary}\n`)
  for (const promise of broken) process.stdout.write(`BROKEN: ${promise}\n`)
  process.exitCode = broken.length === 0 ? 0 : 1
} finally {
  await rm(folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 })
}
process.exit()
