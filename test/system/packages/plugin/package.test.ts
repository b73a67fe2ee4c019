import { execFile } from 'node:child_process'
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { type Test, test } from 'tap'
import { findDeno } from '../../../../runtime/plugin/isolated/deno.ts'

const ROOT = join(import.meta.dirname, '../../../..')
const run = promisify(execFile)

/** A plugin of somebody who has nothing but the package: it uses every export that has types of its own. */
const PLUGIN = `import {
  definePlugin, type Factories, type Host, openSocket, ProviderError, readEvents, readSamples, readServerEvents,
} from '@patchbay/plugin'
import { type AiSdkModel, fromAiSdk } from '@patchbay/plugin/ai-sdk'
import { fromLiveKit, type LiveKitStt, type LiveKitTts } from '@patchbay/plugin/livekit'

async function ask(host: Host, path: string, signal: AbortSignal): Promise<Response> {
  const response = await fetch(\`https://api.acme.example\${path}\`, {
    headers: { authorization: \`Bearer \${host.env.get('ACME_KEY')}\` }, signal,
  }).catch((cause: unknown) => { throw ProviderError.unreachable('Acme', cause) })
  if (!response.ok) throw ProviderError.ofStatus('Acme', response.status, await response.text())
  return response
}

export const far: Factories = definePlugin({
  llm: (host) => ({
    async *chat(_request, signal) {
      for await (const data of readEvents(await ask(host, '/chat', signal))) yield { type: 'text', text: data }
      for await (const { event, data } of readServerEvents(await ask(host, '/more', signal))) host.log.info(event + data)
    },
  }),
  tts: (host) => ({
    sampleRateHz: 16_000,
    async *speak(text, signal) { yield* readSamples(await ask(host, \`/speak?\${text}\`, signal)) },
  }),
  stt: (host) => ({
    sampleRateHz: 16_000,
    async *recognise(audio, signal) {
      const socket = await openSocket('wss://api.acme.example', signal, { headers: { authorization: host.env.get('ACME_KEY') ?? '' } })
      for await (const samples of audio) socket.send(samples)
      for await (const message of socket.messages) yield { type: 'final', text: String(message) }
    },
  }),
})
const model: AiSdkModel = { provider: 'acme', doStream: async () => ({ stream: new ReadableStream() }) }
export const bridged: Factories = fromAiSdk(() => model)
export const spoken = (tts: LiveKitTts, stt: LiveKitStt): Factories => fromLiveKit({ tts: () => tts, stt: () => stt })

export default definePlugin({
  llm: () => ({ async *chat({ messages }) { yield { type: 'text', text: \`You said \${messages.at(-1)?.role}.\` } } }),
  tts: () => ({ sampleRateHz: 8_000, async *speak() { yield new Int16Array(80) } }),
  stt: () => ({ sampleRateHz: 8_000, async *recognise(audio) { for await (const _ of audio) yield { type: 'interim', text: 'mm' } } }),
  embedding: () => ({ dimensions: 1, embed: async (texts) => texts.map(() => [1]) }),
})
`

const CHECK = `import { conformanceOf } from '@patchbay/plugin/test'
import plugin from './mod.ts'

const results = await conformanceOf(plugin)
console.log(JSON.stringify(results))
`

/** An empty folder outside the checkout with the package from its tarball. */
async function outside(t: Test): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'patchbay-author-'))
  t.teardown(() => rmSync(folder, { recursive: true, force: true }))
  await run('npm', ['pack', '--ignore-scripts=false', '--pack-destination', folder], {
    cwd: join(ROOT, 'packages/plugin'),
    timeout: 120_000,
  })
  const [tarball = ''] = readdirSync(folder).filter((name) => name.endsWith('.tgz'))
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ name: 'mine', version: '1.0.0', type: 'module' }))
  const args = ['install', `./${tarball}`, '--offline', '--ignore-scripts', '--no-audit', '--no-fund', '--no-bin-links']
  await run('npm', args, { cwd: folder, timeout: 120_000 })
  writeFileSync(join(folder, 'mod.ts'), PLUGIN)
  writeFileSync(join(folder, 'check.ts'), CHECK)
  return folder
}

test('the package works from its tarball outside the checkout: strict types, Node and Deno', async (t) => {
  const folder = await outside(t)
  const compilerOptions = {
    strict: true,
    noEmit: true,
    noUncheckedIndexedAccess: true,
    exactOptionalPropertyTypes: true,
    target: 'es2024',
    lib: ['es2024', 'dom', 'dom.iterable', 'dom.asynciterable'],
    module: 'nodenext',
    types: [],
    allowImportingTsExtensions: true,
    skipLibCheck: false,
  }
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions, include: ['*.ts'] }))
  const tsc = join(ROOT, 'node_modules/typescript/bin/tsc')
  const { stdout: faults } = await run(process.execPath, [tsc, '-p', folder]).catch(
    (error: { stdout: string }) => error,
  )
  t.equal(faults, '')

  const inNode = JSON.parse((await run(process.execPath, ['check.ts'], { cwd: folder })).stdout)
  t.ok(inNode.length >= 14)
  t.same(
    inNode.filter(({ fault }: { fault?: string }) => fault !== undefined),
    [],
  )
  const deno = findDeno(undefined) ?? ''
  const inDeno = await run(
    deno,
    ['run', '--no-prompt', '--no-remote', '--node-modules-dir=manual', '--allow-read', 'check.ts'],
    {
      cwd: folder,
    },
  )
  t.same(JSON.parse(inDeno.stdout), inNode)
})
