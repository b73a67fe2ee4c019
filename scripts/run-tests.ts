/**
 * Runs test files side by side and reports on them as tap does: `node scripts/run-tests.ts <jobs> <file>…`. They are
 * plain Node: tap's own runner puts hooks for mocks and coverage before every module, which costs more than most tests.
 * Files that touch nothing of their process share one with their neighbours.
 */
import { tmpdir } from 'node:os'
import { basename, dirname, join } from 'node:path'
import { report } from '@tapjs/reporter'
import t from 'tap'
import { needsMachine, testGroups } from './test-groups.ts'

/** Of what hangs: on a machine that is busy with others a file may take ten times as long as alone. */
const FILE_TIMEOUT_S = 900

const [jobs, ...files] = process.argv.slice(2)
t.jobs = Number(jobs)
t.setTimeout(0)
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(signal, () => t.bailout(signal))
// The reporter asks for settings of tap's configuration; its defaults are what is wanted.
await report('base', t, { get: () => undefined } as unknown as Parameters<typeof report>[2])
// Read by each file for the tests in it; what one process compiled, the next need not.
const env = {
  ...process.env,
  NODE_COMPILE_CACHE: join(tmpdir(), `patchbay-compiled-${process.getuid?.() ?? 0}`),
}
const groups = testGroups(files).map((group) => ({ group, alone: group.some((file) => needsMachine(file)) }))
// Those that have a process of their own take longest: begun first, none is left to run alone at the end.
const inOrder = ({ group, alone }: (typeof groups)[number]): number => (alone ? 0 : group.length)
for (const { group, alone } of groups.sort((one, other) => inOrder(one) - inOrder(other))) {
  const [first = '', ...others] = group
  const name =
    others.length === 0 ? first : `${dirname(first)}: ${group.map((file) => basename(file, '.test.ts')).join(' ')}`
  const program = others.length === 0 ? [first] : [join(import.meta.dirname, 'run-group.ts'), ...group]
  const args = ['--import', join(import.meta.dirname, 'test-modules.ts'), ...program]
  const timeout = group.length * FILE_TIMEOUT_S * 1000
  const groupEnv = { ...env, TAP_TIMEOUT: String(group.length * FILE_TIMEOUT_S) }
  t.spawn(process.execPath, args, { name, buffered: !alone, timeout, stdio: 'pipe', env: groupEnv })
}
// The reporter's own summary is cut short where a file timed out.
process.once('exit', () => {
  const { total, pass, fail } = t.counts
  process.stdout.write(`# { total: ${total}, pass: ${pass}, fail: ${fail} }\n`)
})
