import { execFile } from 'node:child_process'
import { cp, mkdir, readFile, symlink } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import t from 'tap'
import { mediaWorker } from '../support/media-worker.ts'
import { testFolder } from '../support/services.ts'

const root = join(import.meta.dirname, '../..')
const dockerfile = await readFile(join(root, 'Dockerfile'), 'utf8')
const stageOf = (name: string) => dockerfile.split(/^(?=FROM )/m).find((stage) => stage.includes(` AS ${name}\n`)) ?? ''

t.test('the image installs what the build of the media worker asks for', async (t) => {
  const build = await readFile(join(root, 'scripts/mediasoup-worker/build.ts'), 'utf8')
  const [, packages = ''] = /PACKAGES = '([^']+)'/.exec(build) ?? []
  t.ok(packages)
  const installed = stageOf('media').split(/[\s\\]+/)
  for (const name of packages.split(' ')) t.ok(installed.includes(name), name)
})

const { path, skip } = await mediaWorker()
t.test('the stage of the media worker has all that checks one', { skip }, async (t) => {
  const folder = await testFolder(t)
  const copied = [...stageOf('media').matchAll(/^COPY (\S+) (\S+)$/gm)].map(([, from = '']) => from)
  for (const from of [...copied, 'package.json']) {
    await mkdir(dirname(join(folder, from)), { recursive: true })
    await cp(join(root, from), join(folder, from), { recursive: true })
  }
  await symlink(join(root, 'node_modules'), join(folder, 'node_modules'))
  const run = promisify(execFile)
  const { NODE_OPTIONS: _, ...env } = process.env
  await t.resolves(run(process.execPath, [join(folder, 'scripts/mediasoup-worker/verify.ts'), path], { env }))
})
