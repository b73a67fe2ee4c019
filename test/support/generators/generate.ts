import { execFile } from 'node:child_process'
import { writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { build } from 'esbuild'

const ROOT = join(import.meta.dirname, '../../..')
const OLDER_TYPESCRIPT = `--import=${join(import.meta.dirname, 'older-typescript.mjs')}`
const MINUTES = 60_000

/** Runs a program without the hooks that the test runner puts into NODE_OPTIONS; what it printed. Throws what it said when it fails. */
export async function runProgram(program: string, args: readonly string[], cwd: string): Promise<string> {
  const { NODE_OPTIONS: _, ...env } = process.env
  const options = { cwd, env: { ...env, NO_COLOR: '1' }, maxBuffer: 64 << 20, timeout: 10 * MINUTES }
  try {
    const { stdout } = await promisify(execFile)(program, [...args], options)
    return stdout
  } catch (error) {
    const { stdout = '', stderr = '' } = error as { stdout?: string; stderr?: string }
    throw new Error(`${program} ${args.join(' ')}\n${stdout.slice(-4_000)}\n${stderr.slice(-4_000)}`, { cause: error })
  }
}

const node = (args: readonly string[], folder: string) => runProgram(process.execPath, args, folder)
const inPackages = (path: string): string => join(ROOT, 'node_modules', path)

/** Writes a client into the folder, which has openapi.json. */
export const GENERATORS: Readonly<Record<string, (folder: string) => Promise<unknown>>> = {
  'openapi-typescript': (folder) =>
    // A field with a default may be left out of a request.
    node(
      [
        OLDER_TYPESCRIPT,
        inPackages('openapi-typescript/bin/cli.js'),
        'openapi.json',
        '-o',
        'generated.ts',
        '--default-non-nullable=false',
      ],
      folder,
    ),
  'hey-api': (folder) =>
    node([OLDER_TYPESCRIPT, inPackages('@hey-api/openapi-ts/dist/run.mjs'), '-i', 'openapi.json', '-o', 'hey'], folder),
  orval: async (folder) => {
    const output = { target: 'orval.ts', client: 'fetch', override: { fetch: { includeHttpResponseReturnType: true } } }
    await writeFile(
      join(folder, 'orval.config.mjs'),
      `export default ${JSON.stringify({ it: { input: 'openapi.json', output } })}`,
    )
    await node([OLDER_TYPESCRIPT, inPackages('orval/dist/bin/orval.mjs'), '--config', 'orval.config.mjs'], folder)
  },
}

/** What the compiler says of program.ts and the client it imports; empty: nothing. */
export async function compilerSays(folder: string): Promise<string> {
  const require = createRequire(import.meta.url)
  const tsc = join(require.resolve('typescript/package.json'), '../bin/tsc')
  const compilerOptions = {
    strict: true,
    target: 'es2022',
    module: 'preserve',
    moduleResolution: 'bundler',
    allowImportingTsExtensions: true,
    lib: ['es2022', 'dom', 'dom.iterable'],
    types: ['node'],
    typeRoots: [join(ROOT, 'node_modules/@types')],
    paths: { '*': [join(ROOT, 'node_modules/*')] },
    noEmit: true,
  }
  await writeFile(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions, files: ['program.ts'] }))
  return node([tsc, '-p', '.', '--checkers', '1'], folder).then(
    () => '',
    (error: Error) => error.message,
  )
}

/** Runs program.ts; the JSON it printed. */
export async function runTypescript(folder: string, args: readonly string[]): Promise<unknown> {
  const outfile = join(folder, 'program.mjs')
  await build({
    ...{ entryPoints: [join(folder, 'program.ts')], outfile, bundle: true, format: 'esm', platform: 'node' },
    ...{ nodePaths: [join(ROOT, 'node_modules')], logLevel: 'silent' },
  })
  return JSON.parse(await node([outfile, ...args], folder))
}

/** The document of a running api, as a file of the folder. */
export async function writeDocument(url: string, folder: string): Promise<void> {
  const answer = await fetch(`${url}/openapi.json`)
  await writeFile(join(folder, 'openapi.json'), Buffer.from(await answer.arrayBuffer()))
}
