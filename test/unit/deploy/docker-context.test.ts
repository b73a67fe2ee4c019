import { cp, mkdir, readdir, readFile, stat, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import t from 'tap'
import { testFolder } from '../../support/instance/services.ts'
import { dockerContext } from '../../support/source/docker-context.ts'

const root = join(import.meta.dirname, '../../..')

const SECRETS = [
  '.env',
  '.env.production',
  'providers.env',
  'notes.txt',
  'id_ed25519',
  'backup.tar.gz',
  '.npmrc',
  '.netrc',
  '.git/config',
  '.data/secrets/data_key',
  'data/secrets/data_key',
  'node_modules/.cache/token',
  'deploy/kubernetes/cluster/secrets.env',
  'deploy/kubernetes/one-node/secrets-voice.env',
  'deploy/secrets.json',
  'api/.env.local',
  'config/providers.env',
  'config/secrets.json',
  'config/tls.pem',
  'web/console/.npmrc',
  'plugins/sip/client.key',
  'scripts/.data/secrets/jwt_api_secret',
  'runtime/secrets/data_key',
  'packages/web/dist/old.js',
]

t.test('no secret of a checkout is sent to the build of the image', async (t) => {
  const folder = await testFolder(t)
  await cp(join(root, '.dockerignore'), join(folder, '.dockerignore'))
  for (const path of [...SECRETS, 'api/http/server.ts', 'config/secrets.ts', 'main.ts']) {
    await mkdir(dirname(join(folder, path)), { recursive: true })
    await writeFile(join(folder, path), 'a-secret')
  }
  const sent = dockerContext(folder)
  t.same(
    SECRETS.filter((path) => sent.includes(path)),
    [],
  )
  for (const path of ['api/http/server.ts', 'config/secrets.ts', 'main.ts']) t.ok(sent.includes(path), path)
})

t.test('all that the Dockerfile copies and the roles load is sent', async (t) => {
  const sent = new Set(dockerContext(root))
  const dockerfile = await readFile(join(root, 'Dockerfile'), 'utf8')
  const copied = [...dockerfile.matchAll(/^COPY (?!--from)(.+) \S+$/gm)].flatMap(([, from = '']) => from.split(' '))
  t.ok(copied.length > 8)
  for (const path of copied.filter((from) => from !== '.')) {
    const isFolder = (await stat(join(root, path))).isDirectory()
    t.ok(isFolder ? [...sent].some((file) => file.startsWith(`${path}/`)) : sent.has(path), path)
  }
  const folders = [
    'api',
    'cli',
    'config',
    'docs',
    'examples',
    'packages',
    'plugins',
    'runtime',
    'scripts',
    'store',
    'web',
    'workers',
  ]
  for (const folder of folders) {
    const files = await readdir(join(root, folder), { recursive: true, withFileTypes: true })
    const lacking = files
      .filter((file) => file.isFile())
      .map((file) => join(file.parentPath, file.name).slice(root.length + 1))
      .filter((path) => !sent.has(path) && !/(^|\/)(dist|node_modules)\/|\.env$/.test(path))
    t.same(lacking, [], folder)
  }
  for (const file of ['main.ts', 'package.json', 'package-lock.json', 'tsconfig.json', 'LICENSE'])
    t.ok(sent.has(file), file)
})

t.test('git takes no file of secrets either', async (t) => {
  const rules = (await readFile(join(root, '.gitignore'), 'utf8')).split('\n')
  for (const rule of ['*.env', '.env*', '*.pem', '.data/']) t.ok(rules.includes(rule), rule)
})
