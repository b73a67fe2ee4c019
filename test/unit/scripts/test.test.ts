import { execFile } from 'node:child_process'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import t from 'tap'
import { testFolder } from '../../support/instance/services.ts'

const ROOT = join(import.meta.dirname, '../../..')
const run = async (...args: string[]): Promise<{ code?: number; stdout: string; stderr: string }> =>
  promisify(execFile)(process.execPath, ['scripts/test.ts', ...args], { cwd: ROOT }).catch((error) => error)

t.test('what is no test is named in a sentence, and nothing is run', async (t) => {
  for (const path of ['test/nothing.test.ts', 'main.ts', 'deploy']) {
    const { code, stdout, stderr } = await run('test/unit/config/env-file.test.ts', path)
    t.equal(code, 1)
    t.equal(stdout, '')
    t.equal(stderr, `patchbay: ${path} is no test file and no folder with any; they are called test/….test.ts\n`)
  }
})

t.test('unit tests of a room share a process', async (t) => {
  const { code, stdout, stderr } = await run('test/unit/config/env-file.test.ts', 'test/unit/config/load.test.ts')
  t.equal(code, undefined)
  t.equal(stderr, '')
  t.match(
    stdout,
    /^\[2\/2\] PASS {2}test\/unit\/config: env-file load {2}\d+ OK {2}\d+\.\d s\n\n[1-9]\d* passed, 0 failed\n$/,
  )
})

t.test(
  'what failed is named with its file and tests, what the file said beside it, and again at the end',
  async (t) => {
    const folder = await testFolder(t)
    const write = async (name: string, source: string): Promise<string> => {
      const path = join(folder, `${name}.test.ts`)
      await writeFile(path, `import t from 'tap'\n${source}`)
      return path
    }
    const failing = await write(
      'failing',
      `t.test('that compare functions', async (t) => t.fail('no words for them', { of: () => 1 }))
t.test('calls', async (t) => {
  t.equal(1, 1)
  await t.test('that ring', async (t) => t.equal(1, 2, 'the counts come true'))
})
t.test('that throw later', async () => {
  setTimeout(() => { throw new Error('too late') }, 5)
  await new Promise((resolve) => setTimeout(resolve, 50))
})
t.test('not yet', async (t) => t.fail('half of it', { todo: true }))
console.error('A warning of the file')`,
    )
    const cut = await write('cut', `t.test('a file that ends too soon', async () => process.exit(7))`)
    const empty = await write('empty', '')
    const { code, stdout } = await run(failing, cut, empty)
    t.equal(code, 1)
    const [during = '', atEnd = ''] = stdout.split('\nWhat failed:\n')
    for (const told of [during, atEnd]) {
      t.match(told, /^\[\d\/3\] FAIL {2}\S+failing\.test\.ts {2}3 of 4 failed/m)
      t.match(told, /^✖ \S+failing\.test\.ts > calls > that ring > the counts come true\n {2}compare: ===$/m)
      t.match(told, /^✖ \S+failing\.test\.ts > that throw later > too late$/m)
      t.match(told, /^✖ \S+failing\.test\.ts > that compare functions > no words for them$/m)
      t.match(told, /^It said: A warning of the file$/m)
      t.notMatch(told, 'half of it')
      t.match(told, /FAIL {2}\S+cut\.test\.ts {2}/)
      t.match(told, /FAIL {2}\S+empty\.test\.ts {2}/)
    }
    t.match(stdout, /\n1 passed, \d failed\n$/)
  },
)
