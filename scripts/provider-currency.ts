/**
 * Compares our lists of models with the SDKs the vendors publish on npm: prints what is new there, what is listed no more, and
 * what is announced to end, and has the SDKs judge every plugin's requests for all that it lists: bodies, queries and messages by
 * their types, addresses by those they name. Downloads the packages with `npm pack` into a temporary folder. Exits 1 when a model
 * we list, or a default, is gone, or a request is refused. Arguments: the plugins to look at; without any all of them.
 */
import { execFile } from 'node:child_process'
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import type { Manifest } from '../runtime/plugin/contract.ts'
import { checkRequests } from './provider-currency/check-requests.ts'
import { compareModels, type Kind, LEFT_OUT, SDKS, type SdkModels } from './provider-currency/compare.ts'

const run = promisify(execFile)
const PLUGINS = join(import.meta.dirname, '../plugins')

/** Gives the version of what was unpacked to `package/`. */
async function unpack(name: string, folder: string): Promise<string> {
  await run('npm', ['pack', `${name}@latest`, '--silent', '--pack-destination', folder], { timeout: 120_000 })
  const archive = (await readdir(folder)).find((file) => file.endsWith('.tgz'))
  if (archive === undefined) throw new Error(`npm pack gave no archive of ${name}`)
  await run('tar', ['xzf', join(folder, archive), '-C', folder])
  const { version } = JSON.parse(await readFile(join(folder, 'package/package.json'), 'utf8')) as { version: string }
  return version
}

/** All of a package's types, in one text. */
async function typesOf(folder: string): Promise<string> {
  const root = join(folder, 'package')
  const entries = await readdir(root, { recursive: true })
  const wanted = entries.filter(
    (file) => /\.d\.ts$|deprecated-models\.js$/.test(file) && !file.includes('node_modules'),
  )
  const texts: string[] = []
  for (const file of wanted) texts.push(await readFile(join(root, file), 'utf8'))
  return texts.join('\n')
}

let isBehind = false
const chosen = new Set(process.argv.slice(2))
for (const { plugin, name, read } of SDKS) {
  if (chosen.size > 0 && !chosen.has(plugin)) continue
  const folder = await mkdtemp(join(tmpdir(), 'patchbay-currency-'))
  try {
    const version = await unpack(name, folder)
    const manifest = JSON.parse(await readFile(join(PLUGINS, plugin, 'plugin.json'), 'utf8')) as Manifest
    const told: Partial<Record<Kind, SdkModels>> = read === undefined ? {} : read(await typesOf(folder))
    console.log(`${plugin}: ${name} ${version}`)
    for (const { text, isFault } of compareModels(manifest, told, new Date())) {
      console.log(`  ${isFault ? 'FAULT' : 'note '}  ${text}`)
      isBehind ||= isFault
    }
    const checked = await checkRequests(plugin, manifest.provides, folder)
    if (checked === undefined) continue
    console.log(`  ${checked.requests} requests, ${checked.faults.length} refused by the SDK`)
    for (const text of checked.unjudged) console.log(`  note   not judged: ${text}`)
    for (const fault of checked.faults) console.log(`  FAULT  ${fault}`)
    isBehind ||= checked.faults.length > 0
  } catch (error) {
    isBehind = true
    console.log(`${plugin}: ${name} could not be read: ${error instanceof Error ? error.message : String(error)}`)
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}
for (const [plugin, why] of Object.entries(LEFT_OUT)) console.log(`${plugin}: not judged: ${why}`)
process.exit(isBehind ? 1 : 0)
