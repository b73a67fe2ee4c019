/**
 * Runs versions beside each other, forward and back, under live calls: `npm run roll -- <commit>…` has this one beside each of the commits;
 * without a commit it takes each version of the last month that changed the database, beside the next one, and the last beside this one.
 * Ends with 1 where a call was lost.
 */
import { execFileSync, spawnSync } from 'node:child_process'
import { join } from 'node:path'

const ROOT = join(import.meta.dirname, '../..')
const TEST = 'test/system/call/version-beside.test.ts'
const MIGRATIONS = 'store/migrations/index.ts'
/** By which a version says how far back the database may be older. */
const RULE = 'readonly needs'

const changes = (...args: string[]): string[] =>
  execFileSync('git', ['log', '--first-parent', '--format=%H', ...args, '--', MIGRATIONS], {
    cwd: ROOT,
    encoding: 'utf8',
  })
    .split('\n')
    .filter(Boolean)

/** Adjacent versions, the newest first. Those of before the rule refuse every newer database, as they said. */
function pairsOfMonth(): (readonly [from: string, to: string])[] {
  const [ruled = ''] = changes(`-S${RULE}`).slice(-1)
  const versions = ['HEAD', ...changes('--since=1.month', `${ruled}~1..HEAD`)]
  return versions.slice(1).map((from, at) => [from, versions[at] ?? 'HEAD'])
}

const named = process.argv.slice(2)
const pairs = named.length > 0 ? named.map((from) => [from, 'HEAD'] as const) : pairsOfMonth()
const broken: string[] = []
for (const [from, to] of pairs) {
  process.stdout.write(`${from} and ${to === 'HEAD' ? 'this version' : to}\n`)
  const versions = to === 'HEAD' ? { ROLL_FROM: from } : { ROLL_FROM: from, ROLL_TO: to }
  const { status } = spawnSync(process.execPath, ['scripts/test.ts', TEST], {
    cwd: ROOT,
    stdio: 'inherit',
    env: { ...process.env, ...versions },
  })
  if (status !== 0) broken.push(`${from} and ${to}`)
}
process.stdout.write(
  broken.length === 0
    ? `${pairs.length} pairs of versions roll forward and back, no call lost\n`
    : `${broken.length} of ${pairs.length} failed:\n${broken.join('\n')}\n`,
)
process.exitCode = broken.length === 0 ? 0 : 1
