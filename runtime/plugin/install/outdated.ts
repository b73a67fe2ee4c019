import { printable } from '../../lib/printable.ts'
import { type CatalogsRead, findListed, readCatalogs } from './catalog.ts'
import { digestOf, type InstalledEntry, pluginLock } from './lock.ts'
import { fetchPlugin, updateSourceOf } from './source.ts'

/** A line for each installed plugin whose source has something else than what is installed. Fetches each; runs nothing. */
export async function describeOutdated(dataDir: string, catalogs: readonly string[] = []): Promise<string> {
  const { plugins } = await pluginLock.read(dataDir)
  const isListed = Object.values(plugins).some(({ source }) => source.startsWith('catalog:'))
  const read = await readCatalogs(isListed ? catalogs : [], Date.now())
  const lines = await Promise.all(Object.entries(plugins).map(([name, entry]) => lineOf(name, entry, read)))
  const changed = lines.filter((line) => line !== undefined)
  return changed.join('\n') || 'Every installed plugin is what its source has.'
}

async function lineOf(
  name: string,
  { source, version, digest }: InstalledEntry,
  catalogs: CatalogsRead,
): Promise<string | undefined> {
  try {
    if (source.startsWith('catalog:')) {
      const listed = findListed(catalogs, source)
      const what = `${version} -> ${listed.version}  (the catalog "${listed.catalog}")`
      return listed.version === version ? undefined : printable(`${name}  ${what}`)
    }
    const fetched = await fetchPlugin(updateSourceOf(source))
    try {
      if ((await digestOf(fetched.folder)) === digest) return undefined
      const other = fetched.manifest.version
      const what = other === version ? `${version}, with other files` : `${version} -> ${other}`
      return printable(`${name}  ${what}  (${source})`)
    } finally {
      await fetched.remove()
    }
  } catch (error) {
    return printable(`${name}  ${version}  ${error instanceof Error ? error.message : String(error)}`)
  }
}
