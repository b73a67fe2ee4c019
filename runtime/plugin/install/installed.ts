import { PatchbayError } from '../../lib/errors.ts'
import { type PluginFolder, type PluginSettings, readFolder } from '../manifest.ts'
import { digestOf, pluginLock, versionFolder } from './lock.ts'

/** The plugins that were installed. One whose files were changed since is broken. */
export async function readInstalled(
  dataDir: string,
): Promise<{ folders: PluginFolder[]; settings: Record<string, PluginSettings> }> {
  const { plugins } = await pluginLock.read(dataDir)
  const folders = await Promise.all(
    Object.entries(plugins).map(async ([name, { digest, source }]) => {
      const dir = versionFolder(dataDir, name, digest)
      const folder = await readFolder(name, dir)
      const requireUnchanged = async (): Promise<void> => {
        if ((await digestOf(dir)) === digest) return
        const reason = `Plugin "${name}" can't be used: its files were changed since it was installed; run: npm run patchbay plugins add ${source}`
        throw new PatchbayError('plugin', { params: { reason } })
      }
      if (folder.fault !== undefined) return { ...folder, isInstalled: true }
      try {
        await requireUnchanged()
        return { ...folder, isInstalled: true, requireUnchanged }
      } catch (fault) {
        return { name, dir, manifest: undefined, fault: fault as PatchbayError }
      }
    }),
  )
  const settings = Object.entries(plugins).map(([name, { grant }]) => [name, { grant }])
  return { folders, settings: Object.fromEntries(settings) }
}
