import { execFile } from 'node:child_process'
import { cp, mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import t from 'tap'
import { runProgram } from '../../support/generators/generate.ts'
import { pythonTools } from '../../support/generators/python.ts'
import { clientWorld } from '../../support/generators/world.ts'
import { testFolder } from '../../support/instance/services.ts'

const ROOT = join(import.meta.dirname, '../../..')
const has = (program: string, args: string[]): Promise<string | false> =>
  promisify(execFile)(program, args).then(
    () => false as const,
    () => `${program} is missing`,
  )
const tools = await pythonTools()

interface Example {
  file: string
  skip: string | false
  run(folder: string, url: string): Promise<string[]>
}

const EXAMPLES: readonly Example[] = [
  { file: 'errand.sh', skip: await has('curl', ['--version']), run: async () => ['sh', 'errand.sh'] },
  {
    file: 'errand.mjs',
    skip: false,
    async run(folder, url) {
      await writeFile(join(folder, 'package.json'), '{}')
      const options = ['--no-audit', '--no-fund', '--ignore-scripts']
      await runProgram('npm', ['install', ...options, `${url}/client/patchbay-client.tgz`], folder)
      return [process.execPath, 'errand.mjs']
    },
  },
  {
    file: 'errand.py',
    skip: tools.reason ?? false,
    async run(folder, url) {
      const python = join(tools.bin ?? '', 'python')
      await mkdir(join(folder, 'installed'))
      const options = ['-q', '--no-index', '--disable-pip-version-check', '--target', 'installed']
      await runProgram(
        python,
        ['-m', 'pip', 'install', ...options, '--find-links', `${url}/client/`, 'patchbay-client'],
        folder,
      )
      return ['env', `PYTHONPATH=${join(folder, 'installed')}`, python, 'errand.py']
    },
  },
  { file: 'errand.go', skip: await has('go', ['version']), run: async () => ['go', 'run', 'errand.go'] },
]

t.before(() => runProgram(process.execPath, ['scripts/sdk/build.ts'], ROOT))

for (const { file, skip, run } of EXAMPLES) {
  t.test(`examples/api/${file} runs as its README says`, { timeout: 600_000, skip }, async (t) => {
    const { url, key } = await clientWorld(t)
    const folder = await testFolder(t)
    await cp(join(ROOT, 'examples/api', file), join(folder, file))
    const command = await run(folder, url)
    const printed = await runProgram('env', [`PATCHBAY_URL=${url}`, `PATCHBAY_KEY=${key}`, ...command], folder)
    t.equal(printed.trim(), '1', 'one call, although it was asked for twice')
  })
}
