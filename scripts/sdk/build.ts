/**
 * Packs the SDKs into packages/sdk/dist: `patchbay-client.tgz` for npm and the wheel for pip, generated from the OpenAPI document, and
 * packages/web as `patchbay-web.tgz`, a Bruno collection as `patchbay-bruno.zip`. Does nothing where they are there and newer than what they are made of. To run after build-web.ts.
 */
import { globSync } from 'node:fs'
import { mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { zipOf } from '../../runtime/lib/zip.ts'
import { npmTarball, wheel } from './archives.ts'
import { brunoFiles } from './bruno.ts'
import { isSdkBuilt, SDK_DIST } from './built.ts'
import { apiOf } from './operations.ts'
import { pythonFiles } from './python.ts'
import { typescriptFiles } from './typescript.ts'

const ROOT = join(import.meta.dirname, '../..')
const SDK = join(ROOT, 'packages/sdk')
const PYTHON_NAME = 'patchbay_client'

if (!isSdkBuilt()) await buildSdk()

async function buildSdk(): Promise<void> {
  const { openApiDocument } = await import('../../api/openapi/openapi.ts')
  const { routes } = await import('../../api/routes.ts')
  const { version } = JSON.parse(await readFile(join(ROOT, 'package.json'), 'utf8')) as { version: string }
  const document = openApiDocument(routes, { publicUrl: 'http://localhost:8080', version })
  const api = apiOf(document)
  const bruno = Object.entries(brunoFiles(document)).map(
    ([name, text]) => [`patchbay/${name}`, Buffer.from(text)] as const,
  )
  const packages = {
    'patchbay-client.tgz': await npmTarball(await typescriptPackage(version, typescriptFiles(api))),
    [`${PYTHON_NAME}-${version}-py3-none-any.whl`]: await pythonPackage(version, pythonFiles(api)),
    'patchbay-web.tgz': await npmTarball(await webPackage()),
    'patchbay-bruno.zip': zipOf(bruno),
  }
  await mkdir(SDK_DIST, { recursive: true })
  for (const file of await readdir(SDK_DIST))
    if (!(file in packages)) await rm(join(SDK_DIST, file), { recursive: true })
  for (const [name, content] of Object.entries(packages)) {
    // Whole or not at all: another command may build at the same time.
    const incoming = join(SDK_DIST, `.${name}.${process.pid}`)
    await writeFile(incoming, content)
    await rename(incoming, join(SDK_DIST, name))
  }
}

async function typescriptPackage(version: string, generated: Record<string, string>): Promise<Record<string, string>> {
  const read = (file: string) => readFile(join(SDK, 'typescript', file), 'utf8')
  const manifest = {
    ...{
      name: '@patchbay/client',
      version,
      description: 'The API of a Patchbay installation, typed',
      license: 'Apache-2.0',
    },
    ...{ type: 'module', sideEffects: false, engines: { node: '>=20.3' } },
    exports: { '.': { types: './mod.d.ts', default: './mod.js' } },
  }
  return {
    'package.json': `${JSON.stringify(manifest, undefined, 2)}\n`,
    ...Object.fromEntries(
      await Promise.all(['README.md', 'runtime.js', 'runtime.d.ts'].map(async (f) => [f, await read(f)])),
    ),
    'mod.js': "export * from './runtime.js'\n",
    'mod.d.ts': "export * from './runtime.js'\nexport type * from './types.js'\n",
    ...generated,
  }
}

async function pythonPackage(version: string, generated: Record<string, string>): Promise<Buffer> {
  const read = (file: string) => readFile(join(SDK, 'python', file), 'utf8')
  const files = {
    '__init__.py': await read('__init__.py'),
    'runtime.py': await read('runtime.py'),
    'py.typed': '',
    ...generated,
  }
  const metadata = `Metadata-Version: 2.1
Name: patchbay-client
Version: ${version}
Summary: The API of a Patchbay installation, typed
License: Apache-2.0
Requires-Python: >=3.11
Description-Content-Type: text/markdown

${await read('README.md')}`
  const placed = Object.entries(files).map(([name, text]) => [`${PYTHON_NAME}/${name}`, text] as const)
  return wheel(PYTHON_NAME, version, Object.fromEntries(placed), metadata)
}

/** As `npm pack` would make it, without the script that builds it. */
async function webPackage(): Promise<Record<string, string | Buffer>> {
  const web = join(ROOT, 'packages/web')
  const { scripts: _, ...manifest } = JSON.parse(await readFile(join(web, 'package.json'), 'utf8')) as {
    scripts: unknown
  }
  const built = globSync('dist/**/*.{js,ts}', { cwd: web }).sort()
  const files = ['README.md', ...built].map(async (file) => [file, await readFile(join(web, file))] as const)
  return {
    'package.json': `${JSON.stringify(manifest, undefined, 2)}\n`,
    ...Object.fromEntries(await Promise.all(files)),
  }
}
