/**
 * Runs test files side by side and reports on them as tap does: `node scripts/run-tests.ts <jobs> <file>…`. Each file is
 * plain Node: tap's own runner puts hooks for mocks and coverage before every module, which costs more than most tests.
 */
import { report } from '@tapjs/reporter'
import t from 'tap'

const FILE_TIMEOUT_S = 300

const [jobs, ...files] = process.argv.slice(2)
t.jobs = Number(jobs)
t.setTimeout(0)
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(signal, () => t.bailout(signal))
// The reporter asks for settings of tap's configuration; its defaults are what is wanted.
await report('base', t, { get: () => undefined } as unknown as Parameters<typeof report>[2])
// Read by each file for the tests in it.
const env = { ...process.env, TAP_TIMEOUT: String(FILE_TIMEOUT_S) }
for (const file of files) {
  t.spawn(process.execPath, [file], { name: file, buffered: true, timeout: FILE_TIMEOUT_S * 1000, stdio: 'pipe', env })
}
// The reporter's own summary is cut short where a file timed out.
process.once('exit', () => {
  const { total, pass, fail } = t.counts
  process.stdout.write(`# { total: ${total}, pass: ${pass}, fail: ${fail} }\n`)
})
