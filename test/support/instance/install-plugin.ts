import { cpSync, mkdirSync, renameSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { Permissions } from '../../../runtime/plugin/contract.ts'
import { digestOf, pluginLock, versionFolder } from '../../../runtime/plugin/install/lock.ts'

/** A plugin of others: a folder, or what its plugin.json provides and the text of its mod.ts. */
export type Source = { folder: string } | { provides: object; mod: string }

/** Puts a plugin where `patchbay plugins add` puts it, granted what is given. */
export async function installPlugin(
  dataDir: string,
  name: string,
  source: Source,
  grant: Permissions = {},
): Promise<void> {
  const dir = join(dataDir, 'plugins', `.incoming-${name}`)
  mkdirSync(dir, { recursive: true })
  if ('folder' in source) cpSync(source.folder, dir, { recursive: true })
  else {
    const manifest = { name, version: '1.0.0', provides: source.provides, permissions: grant }
    writeFileSync(join(dir, 'plugin.json'), JSON.stringify(manifest))
    writeFileSync(join(dir, 'mod.ts'), source.mod)
  }
  const lock = await pluginLock.read(dataDir)
  const digest = await digestOf(dir)
  const place = versionFolder(dataDir, name, digest)
  mkdirSync(dirname(place), { recursive: true })
  renameSync(dir, place)
  lock.plugins[name] = { version: '1.0.0', source: place, digest, grant }
  await pluginLock.write(dataDir, lock)
}
