import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { fetchPlugin } from './source.ts'

const PACK_TIMEOUT_MS = 120_000

/** Packs a plugin's folder with the packages it depends on into a tarball in another folder. Returns what it wrote, in words. Throws `plugin`. */
export async function packPlugin(folder: string, into: string): Promise<string> {
  const fetched = await fetchPlugin(folder)
  try {
    const { name, version } = fetched.manifest
    const file = join(into, `${name}-${version}.tgz`)
    const args = ['-czf', file, '-C', dirname(fetched.folder), basename(fetched.folder)]
    await promisify(execFile)('tar', args, { timeout: PACK_TIMEOUT_MS })
    const digest = createHash('sha512')
      .update(await readFile(file))
      .digest('base64')
    return [...fetched.provenance, `Wrote ${file} (sha512-${digest})`].join('\n')
  } finally {
    await fetched.remove()
  }
}
