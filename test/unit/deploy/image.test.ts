import { execFile } from 'node:child_process'
import { globSync } from 'node:fs'
import { cp, mkdir, readdir, readFile, stat, symlink } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { promisify } from 'node:util'
import t from 'tap'
import { mediaWorker } from '../../support/instance/media-worker.ts'
import { type Teardown, testFolder } from '../../support/instance/services.ts'

const root = join(import.meta.dirname, '../../..')
const dockerfile = await readFile(join(root, 'Dockerfile'), 'utf8')
const stageOf = (name: string) => dockerfile.split(/^(?=FROM )/m).find((stage) => stage.includes(` AS ${name}\n`)) ?? ''

t.test('the image installs what the build of the media worker asks for', async (t) => {
  const build = await readFile(join(root, 'scripts/mediasoup-worker/build.ts'), 'utf8')
  const [, packages = ''] = /PACKAGES = '([^']+)'/.exec(build) ?? []
  t.ok(packages)
  const installed = stageOf('media').split(/[\s\\]+/)
  for (const name of packages.split(' ')) t.ok(installed.includes(name), name)
})

/** What is there when the stage's own steps begin. */
async function folderOf(t: Teardown, stage: string): Promise<string> {
  const folder = await testFolder(t)
  const copied = [...stageOf(stage).matchAll(/^COPY (\S+) (\S+)$/gm)].map(([, from = '']) => from)
  for (const from of [...copied, 'package.json']) {
    await mkdir(dirname(join(folder, from)), { recursive: true })
    // What was built in the checkout is not copied (.dockerignore).
    await cp(join(root, from), join(folder, from), { recursive: true, filter: (path) => basename(path) !== 'dist' })
  }
  // Without what was built before (node_modules/.cache).
  await mkdir(join(folder, 'node_modules'))
  for (const name of await readdir(join(root, 'node_modules'))) {
    if (!name.startsWith('.') || name === '.bin')
      await symlink(join(root, 'node_modules', name), join(folder, 'node_modules', name))
  }
  return folder
}
const run = promisify(execFile)
const { NODE_OPTIONS: _, ...env } = process.env

t.test('the stage of the packages has all that builds the console and the client for pages', async (t) => {
  const folder = await folderOf(t, 'packages')
  const [, steps = ''] = /^RUN (.*?) && npm prune/m.exec(stageOf('packages')) ?? []
  t.match(steps, 'web/console/build.ts')
  await t.resolves(run('sh', ['-ec', steps], { cwd: folder, env }))
  const [built = ''] = globSync('node_modules/.cache/patchbay-console/*', { cwd: folder })
  const { mode } = await stat(join(folder, built))
  t.equal(mode & 0o777, 0o755, 'the user of the image reads what another built')
})

const { path, skip } = await mediaWorker()
t.test('the stage of the media worker has all that checks one', { skip }, async (t) => {
  const folder = await folderOf(t, 'media')
  await t.resolves(run(process.execPath, [join(folder, 'scripts/mediasoup-worker/verify.ts'), path], { env }))
})
