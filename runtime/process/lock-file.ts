import { mkdir, readFile, rename, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { Static, TSchema } from 'typebox'
import { Compile } from 'typebox/compile'
import { PatchbayError } from '../lib/errors.ts'

interface LockFileOptions<S extends TSchema> {
  /** Its path in the data folder. */
  path: string
  schema: S
  /** What it says where there is no file. */
  empty: () => Static<S>
  /** What to do about a file that makes no sense. */
  cure: string
}

/** A file of the data folder that pins what was installed. */
export class LockFile<S extends TSchema> {
  readonly #options: LockFileOptions<S>
  readonly #validator: ReturnType<typeof Compile<S>>

  constructor(options: LockFileOptions<S>) {
    this.#options = options
    this.#validator = Compile(options.schema)
  }

  /** Throws `configuration` for a file that makes no sense. */
  async read(dataDir: string): Promise<Static<S>> {
    const { path, empty, cure } = this.#options
    const file = join(dataDir, path)
    try {
      const lock: unknown = JSON.parse(await readFile(file, 'utf8'))
      if (this.#validator.Check(lock)) return lock as Static<S>
      throw new Error('it is not what such a file says')
    } catch (cause) {
      if ((cause as NodeJS.ErrnoException).code === 'ENOENT') return empty()
      const reason = `${file}: ${cause instanceof Error ? cause.message : cause}; ${cure}`
      throw new PatchbayError('configuration', { params: { reason }, cause })
    }
  }

  /** Replaces it at once: a reader sees the old one or the new one. The folder is the owner's alone. */
  async write(dataDir: string, lock: Static<S>): Promise<void> {
    const file = join(dataDir, this.#options.path)
    await mkdir(dirname(file), { recursive: true, mode: 0o700 })
    await writeFile(`${file}.new`, `${JSON.stringify(lock, null, 2)}\n`)
    await rename(`${file}.new`, file)
  }
}
