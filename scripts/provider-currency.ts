/**
 * Compares our lists of models with the SDKs the vendors publish on npm: prints what is new there, what is listed no more, and
 * what is announced to end, and has the SDKs' types check our requests for every listed language model. Downloads the packages with `npm pack` into a temporary folder. Exits 1 when a model we list, or a
 * default, is gone, or a request is refused.
 */
import { execFile } from 'node:child_process'
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import type { Manifest } from '../runtime/plugin/contract.ts'
import { checkRequests } from './provider-currency/check-requests.ts'
import { compareModels, type Kind, SDKS, type SdkModels } from './provider-currency/compare.ts'

const run = promisify(execFile)
const PLUGINS = join(import.meta.dirname, '../plugins')

async function typesOf(name: string, folder: string): Promise<{ version: string; files: Map<string, string> }> {
  await run('npm', ['pack', `${name}@latest`, '--silent', '--pack-destination', folder], { timeout: 120_000 })
  const archive = (await readdir(folder)).find((file) => file.endsWith('.tgz'))
  if (archive === undefined) throw new Error(`npm pack gave no archive of ${name}`)
  await run('tar', ['xzf', join(folder, archive), '-C', folder])
  const root = join(folder, 'package')
  const { version } = JSON.parse(await readFile(join(root, 'package.json'), 'utf8')) as { version: string }
  const entries = await readdir(root, { recursive: true })
  const wanted = entries.filter(
    (file) => /\.d\.ts$|deprecated-models\.js$/.test(file) && !file.includes('node_modules'),
  )
  const files = new Map<string, string>()
  for (const file of wanted) files.set(file, await readFile(join(root, file), 'utf8'))
  return { version, files }
}

let isBehind = false
for (const { plugin, name, read } of SDKS) {
  const folder = await mkdtemp(join(tmpdir(), 'patchbay-currency-'))
  try {
    const { version, files } = await typesOf(name, folder)
    const manifest = JSON.parse(await readFile(join(PLUGINS, plugin, 'plugin.json'), 'utf8')) as Manifest
    const told: Partial<Record<Kind, SdkModels>> = read([...files.values()].join('\n'))
    console.log(`${plugin}: ${name} ${version}`)
    for (const { text, isFault } of compareModels(manifest, told, new Date())) {
      console.log(`  ${isFault ? 'FAULT' : 'note '}  ${text}`)
      isBehind ||= isFault
    }
    const checked = await checkRequests(plugin, manifest.provides.llm?.models ?? [], folder)
    if (checked === undefined) continue
    console.log(`  ${checked.requests} requests, ${checked.faults.length} refused by its types`)
    for (const fault of checked.faults) console.log(`  FAULT  ${fault}`)
    isBehind ||= checked.faults.length > 0
  } catch (error) {
    isBehind = true
    console.log(`${plugin}: ${name} could not be read: ${error instanceof Error ? error.message : String(error)}`)
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}
process.exit(isBehind ? 1 : 0)
