/**
 * `npm run chaos`: does random faults of docs/failures.md to Postgres, Redis and the clocks of an installation of its own, and looks whether a
 * promise was broken.
 *
 *     npm run chaos -- [--calls=20] [--minutes=10] [--seed=1]
 *
 * The installation has two api nodes, two voice workers, two job workers, `calls` web calls at a time in which somebody talks, and a
 * campaign. Ends with 0 only if no call ended by itself or was recorded wrongly, every turn was answered, nobody was called twice or
 * outside their hours, and all was well again soon after each fault.
 */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { runChaos } from './run-chaos.ts'

const MOST_SHOWN = 40

const { values } = parseArgs({
  options: {
    calls: { type: 'string', default: '20' },
    minutes: { type: 'string', default: '10' },
    seed: { type: 'string', default: '1' },
  },
})
const number = (name: keyof typeof values): number => {
  const value = Number(values[name])
  if (!(value > 0)) throw new Error(`--${name} must be a number above 0, not "${values[name]}"`)
  return value
}
const say = (line: string) => void process.stdout.write(`${line}\n`)

const folder = await mkdtemp(join(tmpdir(), 'patchbay-chaos-'))
try {
  const broken = await runChaos({
    folder,
    seed: number('seed'),
    calls: number('calls'),
    minutes: number('minutes'),
    say,
  })
  for (const one of broken.slice(0, MOST_SHOWN)) say(`  broken: ${one}`)
  say(broken.length === 0 ? 'Every promise held.' : `${broken.length} promises were broken.`)
  process.exitCode = broken.length === 0 ? 0 : 1
} catch (error) {
  process.stderr.write(`chaos: ${error instanceof Error ? error.stack : String(error)}\n`)
  process.exitCode = 1
} finally {
  await rm(folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 })
}
process.exit()
