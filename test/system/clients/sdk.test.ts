import { mkdir, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import t from 'tap'
import { runProgram } from '../../support/generators/generate.ts'
import { pythonTools } from '../../support/generators/python.ts'
import { PYTHON_SDK, TYPESCRIPT_SDK } from '../../support/generators/sdk-programs.ts'
import { clientWorld } from '../../support/generators/world.ts'
import { testFolder } from '../../support/instance/services.ts'

const ROOT = join(import.meta.dirname, '../../..')

t.before(() => runProgram(process.execPath, ['scripts/sdk/build.ts'], ROOT))

t.test('the installation serves its SDKs, and nothing beside them', async (t) => {
  const { url } = await clientWorld(t)
  const index = await fetch(`${url}/client/`)
  const names = [...(await index.text()).matchAll(/href="([^"]+)"/g)].map(([, name = '']) => name)
  t.match(names.sort(), [
    'patchbay-bruno.zip',
    'patchbay-client.tgz',
    'patchbay-web.tgz',
    /^patchbay_client-\d+\.\d+\.\d+-py3-none-any\.whl$/,
  ])
  for (const name of names) {
    const { status, headers } = await fetch(`${url}/client/${name}`)
    t.match([status, headers.get('content-type')], [200, 'application/octet-stream'], name)
    const again = await fetch(`${url}/client/${name}`, { headers: { 'if-none-match': headers.get('etag') ?? '' } })
    t.equal(again.status, 304, `${name} is not fetched twice`)
  }
  for (const name of ['..%2f..%2fpackage.json', 'package.json', 'other.tgz', '.x.tgz.1']) {
    t.equal((await fetch(`${url}/client/${name}`)).status, 404, name)
  }
})

t.test('the TypeScript SDK installs by npm from the installation, compiles strictly and works', async (t) => {
  const { url, key, madeAsSaid } = await clientWorld(t)
  const folder = await testFolder(t)
  await writeFile(join(folder, 'package.json'), '{"type":"module"}')
  await runProgram(
    'npm',
    ['install', '--no-audit', '--no-fund', '--ignore-scripts', `${url}/client/patchbay-client.tgz`],
    folder,
  )
  await writeFile(join(folder, 'program.ts'), TYPESCRIPT_SDK)
  const require = createRequire(import.meta.url)
  const tsc = join(require.resolve('typescript/package.json'), '../bin/tsc')
  const strict = [
    '--strict',
    '--exactOptionalPropertyTypes',
    '--noUncheckedIndexedAccess',
    '--noEmit',
    '--skipLibCheck',
    'false',
  ]
  const types = [
    '--types',
    'node',
    '--typeRoots',
    join(ROOT, 'node_modules/@types'),
    '--lib',
    'es2022,dom,dom.asynciterable',
  ]
  await runProgram(
    process.execPath,
    [tsc, ...strict, ...types, '--module', 'nodenext', '--target', 'es2022', 'program.ts'],
    folder,
  )
  await madeAsSaid(t, JSON.parse(await runProgram(process.execPath, ['--no-warnings', 'program.ts', url, key], folder)))
})

type Fetch = (url: string, init: { method: string; headers: Record<string, string> }) => Promise<Response>
interface Sdk {
  Patchbay: new (settings: {
    baseUrl: string
    key: string
    fetch: Fetch
  }) => Record<string, (...args: unknown[]) => Promise<unknown>>
}

t.test('what may be repeated is sent again, a create with the same key, and nothing else', async (t) => {
  const folder = await testFolder(t)
  await runProgram('tar', ['xzf', join(ROOT, 'packages/sdk/dist/patchbay-client.tgz'), '-C', folder], folder)
  const { Patchbay } = (await import(join(folder, 'package/mod.js'))) as Sdk
  const asked: string[] = []
  const busy = { status: 503, headers: { 'retry-after': '0' } }
  const failing = (failures: number) =>
    new Patchbay({
      baseUrl: 'http://localhost:1/',
      key: 'pb_1',
      fetch: async (url, { method, headers }) => {
        asked.push(`${method} ${new URL(url).pathname} ${headers['idempotency-key'] ?? ''}`)
        if (asked.length > failures) return Response.json({ agent_id: '1' })
        return Response.json({ detail: 'Busy', code: 'unavailable', request_id: 'r', params: {} }, busy)
      },
    })
  t.same(await failing(2).getAgent?.('1'), { agent_id: '1' })
  t.same(asked.splice(0), Array(3).fill('GET /agents/1 '))
  await t.rejects(failing(9).getAgent?.('1') ?? Promise.resolve(), { status: 503, code: 'unavailable', requestId: 'r' })
  t.equal(asked.splice(0).length, 3, 'and not for ever')
  await failing(1).placeCall?.({})
  const [first, second, ...others] = asked.splice(0)
  t.match(first, /^POST \/calls\/outbound_call [\w-]{36}$/)
  t.same([second, others], [first, []])
})

const tools = await pythonTools()
const skip = tools.reason === undefined ? {} : { skip: tools.reason }
t.test(
  'the Python SDK installs by pip from the installation, is typed and works',
  { timeout: 600_000, ...skip },
  async (t) => {
    const { url, key, madeAsSaid } = await clientWorld(t)
    const folder = await testFolder(t)
    const python = join(tools.bin ?? '', 'python')
    await mkdir(join(folder, 'installed'))
    const install = ['-m', 'pip', 'install', '-q', '--no-index', '--disable-pip-version-check', '--target', 'installed']
    await runProgram(python, [...install, '--find-links', `${url}/client/`, 'patchbay-client'], folder)
    await writeFile(join(folder, 'program.py'), PYTHON_SDK)
    await writeFile(join(folder, 'mypy.ini'), '[mypy]\nstrict = True\nmypy_path = installed\n')
    await runProgram(python, ['-m', 'mypy', 'program.py'], folder)
    await madeAsSaid(
      t,
      JSON.parse(
        await runProgram('env', [`PYTHONPATH=${join(folder, 'installed')}`, python, 'program.py', url, key], folder),
      ),
    )
  },
)
