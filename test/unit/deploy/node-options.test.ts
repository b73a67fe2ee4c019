import { execFile } from 'node:child_process'
import { chmod, readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import t from 'tap'
import { nodeOptionsOf } from '../../../cli/node-options.ts'
import { testFolder } from '../../support/instance/services.ts'

const root = join(import.meta.dirname, '../../..')
const run = promisify(execFile)

t.test('scripts/main.sh starts Node with what the roles need', async (t) => {
  const folder = await testFolder(t)
  const node = join(folder, 'node')
  await writeFile(
    node,
    `#!/bin/sh\nif [ "$1" = --version ]; then echo ${process.version}; else printf "%s\\n" "$@"; fi\n`,
  )
  await chmod(node, 0o755)
  const { PATH } = process.env
  for (const args of [
    ['start'],
    ['start', '--allow-net=a:b c'],
    ['api'],
    ['jobs'],
    ['voice'],
    ['api', 'jobs'],
    ['api', 'voice'],
    ['jobs', 'api'],
    ['backup', 'api'],
    ['drain', 'voice'],
    [],
  ]) {
    const env = { PATH: `${folder}:${PATH}` }
    const { stdout } = await run('sh', [join(root, 'scripts/main.sh'), ...args], { env, cwd: folder })
    t.same(stdout.trim().split('\n'), [...nodeOptionsOf(args), 'main.ts', ...args], args.join(' '))
  }
  t.ok(nodeOptionsOf(['start']).length > 0)
  t.ok(nodeOptionsOf(['voice']).length > 0)
})

t.test('the units, the image and the npm scripts start Node with them', async (t) => {
  const folder = join(root, 'deploy/systemd')
  for (const unit of (await readdir(folder)).filter((name) => name.endsWith('.service'))) {
    const [, line = ''] = /^ExecStart=\/usr\/bin\/node (.*)$/m.exec(await readFile(join(folder, unit), 'utf8')) ?? []
    const words = line.split(' ')
    const at = words.indexOf('main.ts')
    t.ok(at >= 0, unit)
    t.same(words.slice(0, at), nodeOptionsOf(words.slice(at + 1)), unit)
  }
  const dockerfile = await readFile(join(root, 'Dockerfile'), 'utf8')
  t.match(dockerfile, /^ENTRYPOINT \["tini", "--", "sh", "scripts\/main\.sh"\]$/m)
  const script = await readFile(join(root, 'scripts/run.sh'), 'utf8')
  t.match(script, 'exec sh scripts/main.sh start "$@"')
  t.notMatch(script, /exec node main\.ts/)
})

t.test('Node takes them all', async (t) => {
  for (const role of ['start', 'voice']) {
    const { stdout } = await run(process.execPath, [...nodeOptionsOf([role]), '-p', '1'], { env: {} })
    t.equal(stdout, '1\n', role)
  }
})
