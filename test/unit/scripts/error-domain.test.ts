import { spawnSync } from 'node:child_process'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import { testFolder } from '../../support/instance/services.ts'

const root = join(import.meta.dirname, '../../..')

/** Each of its errors is thrown where no test waits for it. */
const TESTS = `import t from ${JSON.stringify(join(root, 'node_modules/tap/dist/esm/index.js'))}
const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms))
const fail = (name) => { throw new Error(name) }
t.test('in a timer', () => new Promise(() => setTimeout(fail, 5, 'first')))
t.test('in a promise', async () => {
  void Promise.reject(new Error('second'))
  await pause(50)
})
t.test('nowhere', async (t) => t.ok(await pause(50).then(() => true)))
t.test('around', async (t) => {
  await t.test('inside', async () => {
    setTimeout(fail, 5, 'third')
    await pause(50)
  })
  t.ok(true)
})
t.test('that ended before', async () => void setTimeout(fail, 50, 'fourth'))
t.test('the last', () => pause(200))
`

/** The tests that failed or passed, and what did in them. Which of them is over first is the machine's affair. */
function results(file: string, args: readonly string[]): string[] {
  const { stdout } = spawnSync(process.execPath, [...args, file], { encoding: 'utf8', cwd: root })
  const points = stdout.split('\n').flatMap((line) => /^ *(?:not )?ok [^#]*/.exec(line)?.[0].trimEnd() ?? [])
  return points.map((point) => point.replace(/ok \d+/, 'ok')).toSorted()
}

t.test('an error that no test caught fails the test in which it began, as tap has it by itself', async (t) => {
  const file = join(await testFolder(t), 'errors.test.mjs')
  await writeFile(file, TESTS)
  const ours = results(file, ['--import', './scripts/test-modules.ts'])
  t.same(ours, results(file, []))
  for (const name of ['first', 'second', 'third', 'fourth']) {
    t.ok(
      ours.some((line) => line.trim().startsWith('not ok') && line.endsWith(`- ${name}`)),
      name,
    )
  }
})
