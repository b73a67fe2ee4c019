import { randomBytes } from 'node:crypto'
import { mkdir, rm, stat, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { PatchbayError } from '../runtime/lib/errors.ts'

/** Makes the data folder unless it is there. Throws `configuration` when it can't be written. */
export async function makeDataDir(dataDir: string): Promise<void> {
  const probe = join(dataDir, `.writable-${randomBytes(4).toString('hex')}`)
  try {
    await makeFolders(dataDir)
    await writeFile(probe, '')
    await rm(probe)
  } catch (cause) {
    const code = (cause as NodeJS.ErrnoException).code ?? 'unknown error'
    const reason = `The data folder "${dataDir}" can't be written (${code}); make it writable for this user or set PATCHBAY_DATA_DIR to another folder.`
    throw new PatchbayError('configuration', { params: { reason }, cause })
  }
}

/** Node's own recursive way asks for ever where a folder can't have any in it, as in /proc. */
async function makeFolders(path: string): Promise<void> {
  try {
    await mkdir(path)
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'EEXIST' && (await stat(path)).isDirectory()) return
    const parent = dirname(path)
    if (code !== 'ENOENT' || parent === path || (await exists(parent))) throw error
    await makeFolders(parent)
    await makeFolders(path)
  }
}

async function exists(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    () => false,
  )
}
