/**
 * `npm run large`: what an operator does to an installation with many calls behind it, under load: requests, web calls, placed calls and a
 * campaign.
 *
 *     npm run large -- backup [--calls=1000000]                       a backup, verified, restored elsewhere and compared
 *     npm run large -- verify [--calls=1000000]                       a backup and its verification, with nothing beside
 *     npm run large -- migrate [--calls=1200000] [--from=<commit>]    this version migrates the database of an earlier one
 *
 * Prints times and sizes. Ends with 0 only if nothing differs, no call was lost, every request was served within 3 s and /ready never said no.
 */
import { execFileSync } from 'node:child_process'
import { parseArgs } from 'node:util'
import { backupLarge } from './backup.ts'
import { migrateLarge } from './migrate.ts'
import { verifyLarge } from './verify.ts'

const MOST_SHOWN = 40
/** Before the last migration that changes the table of calls and builds indexes on it. */
const MIGRATION = 'store/migrations/0096-records.ts'

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { calls: { type: 'string' }, from: { type: 'string' } },
})
const [what] = positionals
const say = (line: string) => void process.stdout.write(`${line}\n`)
const callsOr = (otherwise: number): number => {
  const calls = Number(values.calls ?? otherwise)
  if (!(calls > 0)) throw new Error(`--calls must be a number above 0, not "${values.calls}"`)
  return calls
}
const before = (): string =>
  `${execFileSync('git', ['log', '--format=%H', '--diff-filter=A', '--', MIGRATION], { encoding: 'utf8' }).trim()}~1`

let broken: string[]
if (what === 'backup') broken = await backupLarge({ calls: callsOr(1_000_000), say })
else if (what === 'verify') broken = await verifyLarge({ calls: callsOr(1_000_000), say })
else if (what === 'migrate')
  broken = await migrateLarge({ calls: callsOr(1_200_000), commit: values.from ?? before(), say })
else {
  process.stderr.write('Usage: npm run large -- backup|verify|migrate [--calls=<number>] [--from=<commit>]\n')
  process.exit(2)
}
for (const one of broken.slice(0, MOST_SHOWN)) say(`  broken: ${one}`)
say(
  broken.length === 0
    ? 'Nothing was lost, late or different.'
    : `${broken.length} things were lost, late or different.`,
)
process.exit(broken.length === 0 ? 0 : 1)
