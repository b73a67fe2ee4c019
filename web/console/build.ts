/**
 * Builds the console, if it isn't: `node web/console/build.ts`. The files are compressed here, once, so that serving them
 * costs nothing. Others may build at the same time: the first to finish puts the folder in its place.
 */
import { existsSync } from 'node:fs'
import { chmod, mkdir, mkdtemp, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { brotliCompressSync, constants, gzipSync } from 'node:zlib'
import { build } from 'vite'
import { builtFolder } from './build-key.ts'
import config from './vite.config.ts'

const COMPRESSIBLE = /\.(?:js|css|html|svg|json)$/

const folder = builtFolder()
if (!existsSync(folder)) {
  const cache = dirname(folder)
  await mkdir(cache, { recursive: true })
  const making = await mkdtemp(join(cache, 'making-'))
  try {
    await build({ ...config, configFile: false, logLevel: 'error', build: { ...config.build, outDir: making } })
    for (const name of await readdir(making, { recursive: true })) {
      if (!COMPRESSIBLE.test(name)) continue
      const content = await readFile(join(making, name))
      const params = { [constants.BROTLI_PARAM_QUALITY]: 9, [constants.BROTLI_PARAM_SIZE_HINT]: content.length }
      await writeFile(join(making, `${name}.br`), brotliCompressSync(content, { params }))
      await writeFile(join(making, `${name}.gz`), gzipSync(content))
    }
    // The server may run as another user than the build.
    await chmod(making, 0o755)
    await rename(making, folder)
  } catch (error) {
    if (!existsSync(folder)) throw error
  } finally {
    await rm(making, { recursive: true, force: true })
  }
}
