/**
 * Packs npm packages of many small modules into a few files (runtime/process/packed-packages.ts), so that processes that load them start
 * sooner: a step of the image's build. An argument names another folder, below `node_modules` as well.
 */
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join, relative, resolve } from 'node:path'
import { build, type PluginBuild } from 'esbuild'
import { PACKED_FOLDER, PACKED_LIST } from '../runtime/process/packed-packages.ts'

const folder = resolve(process.argv[2] ?? PACKED_FOLDER)

/**
 * What is imported of them. All that imports such a package is packed with it, for it would have a copy of its own otherwise:
 * classes and registries that are one would be two.
 */
const SPECIFIERS = [
  '@livekit/agents',
  '@livekit/agents-plugin-cartesia',
  '@livekit/agents-plugin-deepgram',
  '@livekit/agents-plugin-openai',
  '@modelcontextprotocol/sdk/client/index.js',
  '@modelcontextprotocol/sdk/client/streamableHttp.js',
  '@modelcontextprotocol/sdk/server/index.js',
  '@modelcontextprotocol/sdk/server/mcp.js',
  '@modelcontextprotocol/sdk/server/webStandardStreamableHttp.js',
  '@modelcontextprotocol/sdk/types.js',
  '@opentelemetry/api',
  '@opentelemetry/exporter-trace-otlp-proto',
  '@opentelemetry/resources',
  '@opentelemetry/sdk-trace-base',
  '@redis/client',
  'bullmq',
  'jose',
  'jose/errors',
  'kysely',
  'kysely/helpers/postgres',
  'libphonenumber-js/max',
  'libphonenumber-js/min',
  'openai',
  'typebox',
  'typebox/compile',
  'typebox/error',
  'typebox/format',
  'typebox/schema',
  'typebox/system',
  'ws',
  'zod',
]

/** Of code of the machine's own, or begun by their own files: threads of the log, programs. */
const AS_THEY_ARE = [
  '*.node',
  '@livekit/local-inference',
  '@livekit/rtc-node',
  'ffmpeg-static',
  'fluent-ffmpeg',
  'msgpackr',
  'pg',
  'pino',
  'pino-pretty',
  'sharp',
]

/** What modules of CommonJS ask for others by, and where they are. */
const BANNER = `import { createRequire as createRequireOfPacked } from 'node:module'
import { fileURLToPath as pathOfPacked } from 'node:url'
const require = createRequireOfPacked(import.meta.url)
const packedAt = import.meta.url`

/** Modules that look for something beside themselves find it where they were. */
const whereTheyWere = {
  name: 'where-they-were',
  setup: ({ onLoad }: PluginBuild) =>
    onLoad({ filter: /node_modules.*\.[cm]?js$/ }, ({ path }) => {
      const source = readFileSync(path, 'utf8')
      const url = `new URL(${JSON.stringify(relative(folder, path))}, packedAt)`
      const variables = [
        /\bimport\.meta\.url\b/.test(source) ? `const urlBeforePacked = ${url}.href;` : '',
        /\b__filename\b/.test(source) ? `const __filename = pathOfPacked(${url});` : '',
        /\b__dirname\b/.test(source) ? `const __dirname = pathOfPacked(new URL('.', ${url}));` : '',
      ].join('')
      if (variables === '') return undefined
      const [strict = ''] = source.match(/^\s*(['"])use strict\1;?/) ?? []
      return { contents: `${strict}${variables}${source.slice(strict.length)}`, loader: 'js' }
    }),
}

await pack()

async function pack(): Promise<void> {
  const entries = join(folder, 'entries')
  mkdirSync(entries, { recursive: true })
  const files = new Map<string, string>()
  for (const specifier of SPECIFIERS) {
    const file = specifier.replaceAll(/[^\w.]+/g, '-').replace(/^-|\.js$/g, '')
    files.set(specifier, `${file}.mjs`)
    // By name: of a CommonJS module Node finds the names by reading it, as no packer does.
    const names = Object.keys((await import(specifier)) as object).filter((name) => /^[\w$]+$/.test(name))
    writeFileSync(join(entries, `${file}.mjs`), `export { ${names.join(', ')} } from ${JSON.stringify(specifier)}\n`)
  }
  await build({
    entryPoints: [...files.values()].map((file) => join(entries, file)),
    outdir: folder,
    outExtension: { '.js': '.mjs' },
    bundle: true,
    splitting: true,
    format: 'esm',
    platform: 'node',
    // As Node chooses among what a package has: not what is made for packers.
    conditions: ['node'],
    mainFields: ['main'],
    target: 'node22',
    external: AS_THEY_ARE,
    banner: { js: BANNER },
    define: { 'import.meta.url': 'urlBeforePacked' },
    plugins: [whereTheyWere],
    logLevel: 'warning',
  })
  rmSync(entries, { recursive: true })
  writeFileSync(join(folder, PACKED_LIST), JSON.stringify(Object.fromEntries(files), undefined, 2))
}
