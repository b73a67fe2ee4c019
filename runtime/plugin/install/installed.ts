import { join } from 'node:path'
import { PatchbayError } from '../../lib/errors.ts'
import { type PluginFolder, type PluginSettings, readFolder } from '../manifest.ts'
import { digestOf, installedFolder, pluginLock } from './lock.ts'

/** The plugins that were installed. One whose files were changed since is broken. */
export async function readInstalled(
  dataDir: string,
): Promise<{ folders: PluginFolder[]; settings: Record<string, PluginSettings> }> {
  const { plugins } = await pluginLock.read(dataDir)
  const folders = await Promise.all(
    Object.entries(plugins).map(async ([name, { digest, source }]) => {
      const dir = join(installedFolder(dataDir), name)
      const folder = await readFolder(name, dir)
      if (folder.fault !== undefined || (await digestOf(dir)) === digest) return { ...folder, isInstalled: true }
      const reason = `Plugin "${name}" can't be used: its files were changed since it was installed; run: npm run patchbay plugins add ${source}`
      return { name, dir, manifest: undefined, fault: new PatchbayError('plugin', { params: { reason } }) }
    }),
  )
  const settings = Object.entries(plugins).map(([name, { grant }]) => [name, { grant }])
  return { folders, settings: Object.fromEntries(settings) }
}
