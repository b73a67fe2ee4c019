import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import t from 'tap'

const ROOT = join(import.meta.dirname, '../../..')
const run = async (...args: string[]) =>
  promisify(execFile)(process.execPath, ['scripts/test.ts', ...args], { cwd: ROOT }).catch((error) => error)

t.test('what is no test is named in a sentence, and nothing is run', async (t) => {
  for (const path of ['test/nothing.test.ts', 'main.ts', 'deploy']) {
    const { code, stdout, stderr } = await run('test/unit/scripts/tap-results.test.ts', path)
    t.equal(code, 1)
    t.equal(stdout, '')
    t.equal(stderr, `patchbay: ${path} is no test file and no folder with any; they are called test/….test.ts\n`)
  }
})
