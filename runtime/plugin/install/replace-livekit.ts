import { execFile } from 'node:child_process'
import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'

/** LiveKit's packages that bring native code, which the sandbox doesn't run, and Patchbay's stand-ins for them. */
const STAND_INS = { '@livekit/rtc-node': 'audio.ts', '@livekit/agents': 'agents.ts' }
/** Of the interfaces that they have. */
const VERSION = '1.8.1'
const FOLDER = join(import.meta.dirname, '../../../packages/plugin/livekit')
/** Prints a file without its types: Deno reads no TypeScript below `node_modules`. */
const STRIP = `process.stdout.write(require('node:module').stripTypeScriptTypes(require('node:fs').readFileSync(process.argv[1], 'utf8')))`
const STRIP_TIMEOUT_MS = 30_000

/**
 * Puts a stand-in of Patchbay's in the place of LiveKit's native packages, where a plugin's folder brings one of LiveKit's plugins. It
 * belongs to the plugin's files from then on: a later Patchbay changes nothing of it.
 */
export async function replaceLivekit(folder: string): Promise<void> {
  const packages = join(folder, 'node_modules')
  const brought = await readdir(join(packages, '@livekit')).catch(() => [])
  if (!brought.some((name) => name.startsWith('agents-plugin-'))) return
  const imports = await importsIn(join(packages, '@livekit'))
  let known = ''
  for (const [name, file] of Object.entries(STAND_INS)) {
    const args = ['--disable-warning=ExperimentalWarning', '--eval', STRIP, join(FOLDER, file)]
    const { stdout } = await promisify(execFile)(process.execPath, args, { timeout: STRIP_TIMEOUT_MS })
    const place = join(packages, name)
    await rm(place, { recursive: true, force: true })
    await mkdir(place, { recursive: true })
    const manifest = { name, version: VERSION, type: 'module', exports: './index.js' }
    await writeFile(join(place, 'package.json'), JSON.stringify(manifest))
    known += stdout
    const lacking = [...imports].filter(
      ([one, from]) => from === name && !new RegExp(`^export \\w+ ${one}\\b`, 'm').test(known),
    )
    const code = stdout.replaceAll('./audio.ts', '@livekit/rtc-node') + lacking.map(([one]) => refusal(one)).join('')
    await writeFile(join(place, 'index.js'), code)
  }
}

/** An export that throws when it is used, for what a plugin of LiveKit imports and the stand-in hasn't. */
const refusal = (name: string): string =>
  `export function ${name}() { throw new Error('The sandbox has no "${name}" of LiveKit') }\n`

const IMPORTS = /import\s*\{([^}]*)\}\s*from\s*["'](@livekit\/(?:agents|rtc-node))["']/g

/** What the plugins in a folder import by name, and from which of the replaced packages. */
async function importsIn(folder: string): Promise<Map<string, string>> {
  const found = new Map<string, string>()
  const files = await readdir(folder, { recursive: true, withFileTypes: true })
  for (const file of files) {
    if (!file.isFile() || !file.name.endsWith('.js')) continue
    const text = await readFile(join(file.parentPath, file.name), 'utf8')
    for (const [, names = '', from = ''] of text.matchAll(IMPORTS)) {
      for (const [name] of names.matchAll(/(?<=^\s*|,\s*)\w+/g)) found.set(name, from)
    }
  }
  return found
}
