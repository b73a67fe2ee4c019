/**
 * Runs this version beside earlier ones, forward and back, under live calls: `npm run roll -- <commit>…`. Without a commit: the last one of
 * each day of the last month whose database was another. Ends with 1 where a call was lost.
 */
import { execFileSync, spawnSync } from 'node:child_process'
import { join } from 'node:path'

const ROOT = join(import.meta.dirname, '../..')
const TEST = 'test/system/call/version-beside.test.ts'
const git = (...args: string[]): string[] =>
  execFileSync('git', args, { cwd: ROOT, encoding: 'utf8' }).split('\n').filter(Boolean)

/** The last commit of each day on which the migrations changed, the newest first. */
function commitsOfMonth(): string[] {
  const days = new Map<string, string>()
  const format = ['--format=%H %ad', '--date=short']
  for (const line of git('log', '--since=1.month', ...format, '--', 'store/migrations/index.ts')) {
    const [commit = '', day = ''] = line.split(' ')
    if (!days.has(day)) days.set(day, commit)
  }
  return [...days.values()].map((commit) => `${commit}~1`)
}

const named = process.argv.slice(2)
const lost: string[] = []
for (const commit of named.length > 0 ? named : commitsOfMonth()) {
  process.stdout.write(`This version beside ${commit}\n`)
  const { status } = spawnSync(process.execPath, ['scripts/test.ts', TEST], {
    cwd: ROOT,
    stdio: 'inherit',
    env: { ...process.env, ROLL_FROM: commit },
  })
  if (status !== 0) lost.push(commit)
}
process.stdout.write(
  lost.length === 0 ? 'Every version rolls forward and back\n' : `Failed beside: ${lost.join(', ')}\n`,
)
process.exitCode = lost.length === 0 ? 0 : 1
