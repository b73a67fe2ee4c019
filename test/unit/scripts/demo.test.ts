import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import t from 'tap'

const run = promisify(execFile)
const demo = (...args: string[]) =>
  run(process.execPath, [join(import.meta.dirname, '../../../scripts/demo.ts'), ...args])

t.test('the demo tells its options', async (t) => {
  const { stdout } = await demo('--help')
  for (const option of ['--url', '--times', '--kill-worker', '--language', '--providers']) t.match(stdout, option)
})

t.test('an address that was named and does not answer is an error, not an instance of its own', async (t) => {
  await t.rejects(demo('--url=http://127.0.0.1:1'), {
    code: 1,
    stdout: '',
    stderr: 'demo: No Patchbay answers at http://127.0.0.1:1; start it with npm start, or leave --url out\n',
  })
})
