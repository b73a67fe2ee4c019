import { randomBytes } from 'node:crypto'
import { mkdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { PatchbayError } from '../runtime/errors.ts'

/** Makes the data folder unless it is there. Throws `configuration` when it can't be written. */
export async function makeDataDir(dataDir: string): Promise<void> {
  const probe = join(dataDir, `.writable-${randomBytes(4).toString('hex')}`)
  try {
    await mkdir(dataDir, { recursive: true })
    await writeFile(probe, '')
    await rm(probe)
  } catch (cause) {
    const code = (cause as NodeJS.ErrnoException).code ?? 'unknown error'
    const reason = `The data folder "${dataDir}" can't be written (${code}); make it writable for this user or set PATCHBAY_DATA_DIR to another folder.`
    throw new PatchbayError('configuration', { params: { reason }, cause })
  }
}
