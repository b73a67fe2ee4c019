import { execFile } from 'node:child_process'
import { cp, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, dirname, join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { PatchbayError } from '../../lib/errors.ts'
import { buildInfo } from '../../process/build-info.ts'
import { ROOT } from '../host.ts'

/** The kinds that there is a start for. */
export const SCAFFOLD_KINDS = ['stt', 'tts', 'llm', 'embedding', 'tools', 'telephony'] as const
export type ScaffoldKind = (typeof SCAFFOLD_KINDS)[number]

const SDK = join(ROOT, 'packages/plugin')
const PACK_TIMEOUT_MS = 120_000

interface Start {
  /** The example that it is taken from. Default: `parrot`. */
  example?: string
  files: readonly string[]
  imports: string
  factory: string
}

/** What the example needs for each kind, and its mod.ts then. */
const STARTS: Readonly<Record<ScaffoldKind, Start>> = {
  llm: {
    files: ['model.ts'],
    imports: "import { chat } from './model.ts'",
    factory: 'llm: (host) => ({ chat: (request, signal) => chat(host, request, signal) }),',
  },
  stt: {
    files: ['ears.ts'],
    imports: "import { InboundAudio } from './ears.ts'",
    factory: `stt: () => ({
    sampleRateHz: 16_000,
    async *recognise(audio) {
      const ears = new InboundAudio(16_000)
      for await (const samples of audio) yield* ears.push(samples)
      yield* ears.end()
    },
  }),`,
  },
  tts: {
    files: ['whistle.ts'],
    imports: "import { whistle } from './whistle.ts'",
    factory: 'tts: () => ({ sampleRateHz: 16_000, speak: (text, signal) => whistle(text, 16_000, signal) }),',
  },
  embedding: {
    files: ['letters.ts'],
    imports: "import { embed } from './letters.ts'",
    factory: 'embedding: () => ({ dimensions: 26, embed: async (texts) => texts.map(embed) }),',
  },
  tools: { files: ['repeat.ts'], imports: "import { repeat } from './repeat.ts'", factory: 'tools: () => repeat,' },
  telephony: {
    example: 'tincan',
    files: ['carrier.ts', 'stand-in.ts'],
    imports: "import { tinCan } from './carrier.ts'",
    factory: 'telephony: tinCan,',
  },
}

const TEST = `import { deepEqual } from 'node:assert/strict'
import { test } from 'node:test'
import { conformanceOf } from '@patchbay/plugin/test'
import plugin from './mod.ts'

test('the plugin does what the contract asks', async () => {
  const results = await conformanceOf(plugin, { env: {} })
  deepEqual(
    results.filter(({ fault }) => fault !== undefined),
    [],
  )
})
`

const TSCONFIG = {
  compilerOptions: {
    strict: true,
    noEmit: true,
    noUncheckedIndexedAccess: true,
    target: 'es2024',
    lib: ['es2024', 'dom', 'dom.iterable', 'dom.asynciterable'],
    module: 'nodenext',
    types: [],
    allowImportingTsExtensions: true,
    erasableSyntaxOnly: true,
    verbatimModuleSyntax: true,
  },
  include: ['*.ts'],
  // They run in Node, whose types the plugin has not.
  exclude: ['*.test.ts', 'stand-in.ts'],
}

function readmeOf(name: string, folder: string, kind: ScaffoldKind): string {
  const standIn = `
\`stand-in.ts\` is the API of the carrier and the people who are called: \`TINCAN_KEY=secret node stand-in.ts 4020\`. With the same key and
\`TINCAN_URL=http://127.0.0.1:4020\` in the environment of Patchbay the plugin works with it.
`
  return `# ${name}

A plugin for Patchbay. \`npm test\` runs the suite that every plugin has to pass, \`npx -p typescript tsc -p .\` checks the types.

In the folder of Patchbay:

\`\`\`sh
npm run patchbay plugins dev ${folder}     # Patchbay with this plugin; a change counts for the next session
npm run patchbay plugins test ${folder}    # the suite in the sandbox, with what plugin.json asks for
npm run patchbay plugins add ${folder}     # installs it
\`\`\`
${kind === 'telephony' ? standIn : ''}`
}

/** Writes a folder to start from: the example cut down to one kind, with its package, types and test. Throws `configuration`. */
export async function scaffold(kind: ScaffoldKind, folder: string): Promise<void> {
  const name = basename(folder)
  if (!/^[a-z0-9]([a-z0-9-]{0,62}[a-z0-9])?$/.test(name)) {
    throw refused(`"${name}" is no name of a plugin: the folder's name has small letters, digits and hyphens`)
  }
  await mkdir(dirname(folder), { recursive: true })
  await mkdir(folder).catch((cause: NodeJS.ErrnoException) => {
    throw cause.code === 'EEXIST' ? refused(`"${folder}" is there already`) : cause
  })
  const { example: ofExample = 'parrot', files: copied, imports, factory } = STARTS[kind]
  const example = join(ROOT, 'examples/plugins', ofExample)
  for (const file of copied) await cp(join(example, file), join(folder, file))
  const { permissions, provides, key } = JSON.parse(await readFile(join(example, 'plugin.json'), 'utf8')) as {
    permissions: object
    provides: Record<string, unknown>
    key?: object
  }
  const manifest = {
    name,
    version: '1.0.0',
    specification: 1,
    engines: { patchbay: `>=${buildInfo().version}` },
    description: `A ${kind} plugin.`,
    provides: { [kind]: provides[kind] },
    // Only a model and a carrier ask for something.
    permissions: kind === 'llm' || kind === 'telephony' ? permissions : {},
    ...(key === undefined ? {} : { key }),
  }
  const code = `import { definePlugin } from '@patchbay/plugin'\n${imports}\n\nexport default definePlugin({\n  ${factory}\n})\n`
  const sdk = await packSdk(join(folder, 'vendor'))
  const own = {
    name,
    version: '1.0.0',
    private: true,
    type: 'module',
    scripts: { test: 'node --test' },
    devDependencies: { '@patchbay/plugin': sdk === undefined ? '^1.0.0' : `file:vendor/${sdk}` },
  }
  const json = (value: object): string => `${JSON.stringify(value, null, 2)}\n`
  const files = {
    'plugin.json': json(manifest),
    'package.json': json(own),
    'tsconfig.json': json(TSCONFIG),
    'mod.ts': code,
    'mod.test.ts': TEST,
    'README.md': readmeOf(name, folder, kind),
    '.gitignore': 'node_modules/\n',
  }
  for (const [path, text] of Object.entries(files)) await writeFile(join(folder, path), text)
}

/** Packs `@patchbay/plugin` with its types into a folder; the tarball's name, undefined where there is no compiler here. */
async function packSdk(into: string): Promise<string | undefined> {
  const tsc = join(ROOT, 'node_modules/typescript/bin/tsc')
  const place = await mkdtemp(join(tmpdir(), 'patchbay-sdk-'))
  try {
    const options = { timeout: PACK_TIMEOUT_MS }
    await promisify(execFile)(process.execPath, [tsc, '-p', SDK, '--outDir', join(place, 'dist')], options)
    await cp(join(SDK, 'package.json'), join(place, 'package.json'))
    await mkdir(into)
    const args = ['pack', '--ignore-scripts', '--pack-destination', resolve(into)]
    await promisify(execFile)('npm', args, { ...options, cwd: place })
    return (await readdir(into))[0]
  } catch {
    return undefined
  } finally {
    await rm(place, { recursive: true, force: true })
  }
}

function refused(why: string): PatchbayError {
  return new PatchbayError('configuration', { params: { reason: why } })
}
