import { createWriteStream } from 'node:fs'
import { copyFile, mkdir, readdir, rename, rm } from 'node:fs/promises'
import { dirname, join, relative } from 'node:path'
import type { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { PatchbayError } from '../../runtime/lib/errors.ts'
import { printable } from '../../runtime/lib/printable.ts'

/** Of the data folder: what was generated for this installation, and what calls and tenants left. The rest is the database's and Redis's. */
export const FILE_FOLDERS = ['secrets', 'objects']

const STAGE = 'restoring'
const MAX_NAME_CHARS = 2_000
const NAME_FAULTS = new Set(['EEXIST', 'EISDIR', 'ENOTDIR', 'ENAMETOOLONG'])

/**
 * The files of a backup beside the data folder's own, until all of it is known to be good. Then they take their places, and what
 * was there before is kept until the end: `putBack` undoes it, at the next restore too when this one is cut short.
 */
export class StagedFiles {
  readonly #dataDir: string
  readonly #incoming: string
  readonly #outgoing: string
  readonly #names: string[] = []
  /** In place already, the last one last. */
  readonly #placed: string[] = []

  private constructor(dataDir: string) {
    this.#dataDir = dataDir
    this.#incoming = join(dataDir, STAGE, 'incoming')
    this.#outgoing = join(dataDir, STAGE, 'outgoing')
  }

  /** Begins with none, after putting back what a restore left that was cut short. The data folder is made with the first file. */
  static async open(dataDir: string): Promise<StagedFiles> {
    const files = new StagedFiles(dataDir)
    await files.putBack()
    return files
  }

  /** Keeps a file aside. Throws `configuration` for a name outside the folders that a backup holds. */
  async add(name: string, content: Readable): Promise<void> {
    const path = join(this.#incoming, ...partsOf(name))
    try {
      await mkdir(dirname(path), { recursive: true, mode: 0o700 })
      await pipeline(content, createWriteStream(path, { mode: 0o600, flags: 'wx' }))
    } catch (cause) {
      if (!NAME_FAULTS.has((cause as NodeJS.ErrnoException).code ?? '')) throw cause
      throw refused(
        `has a file whose name is too long or taken by another of its files: "${name.slice(0, 300)}"`,
        cause,
      )
    }
    this.#names.push(name)
  }

  /** Puts every file in its place, or none. */
  async place(): Promise<void> {
    try {
      for (const name of this.#names) {
        const path = join(this.#dataDir, name)
        await mkdir(dirname(path), { recursive: true, mode: 0o700 })
        await moveIfThere(path, join(this.#outgoing, name))
        this.#placed.push(name)
        await move(join(this.#incoming, name), path)
      }
    } catch (error) {
      await this.putBack()
      throw error
    }
  }

  /** Makes the folder what it was: takes away what was put in place, and brings back what was there before. */
  async putBack(): Promise<void> {
    for (const name of this.#placed.splice(0).reverse()) await rm(join(this.#dataDir, name), { force: true })
    for (const path of await filesIn(this.#outgoing))
      await move(path, join(this.#dataDir, relative(this.#outgoing, path)))
    await this.clear()
  }

  /** Forgets what is kept aside. */
  async clear(): Promise<void> {
    await rm(join(this.#dataDir, STAGE), { recursive: true, force: true })
  }
}

/** The name may have been tampered with: nothing outside the folders is touched. */
function partsOf(name: string): string[] {
  const parts = name.split('/')
  const isInside =
    FILE_FOLDERS.includes(parts[0] ?? '') &&
    parts.length > 1 &&
    parts.every((part) => part !== '' && part !== '.' && part !== '..') &&
    name.length <= MAX_NAME_CHARS &&
    !name.includes('\\') &&
    printable(name) === name
  if (!isInside) throw refused(`names a file outside the data folder: "${printable(name.slice(0, 300))}"`)
  return parts
}

function refused(why: string, cause?: unknown): PatchbayError {
  return new PatchbayError('configuration', { params: { reason: `The backup ${why}.` }, cause })
}

async function filesIn(folder: string): Promise<string[]> {
  const found = await readdir(folder, { recursive: true, withFileTypes: true }).catch(() => [])
  return found.filter((entry) => !entry.isDirectory()).map((entry) => join(entry.parentPath, entry.name))
}

async function moveIfThere(from: string, to: string): Promise<void> {
  await move(from, to).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'ENOENT') throw error
  })
}

/** Also across file systems, where a data folder is a mount; the target is complete once it has its name. */
async function move(from: string, to: string): Promise<void> {
  await mkdir(dirname(to), { recursive: true, mode: 0o700 })
  try {
    await rename(from, to)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EXDEV') throw error
    const draft = `${to}.tmp`
    await copyFile(from, draft)
    await rename(draft, to)
    await rm(from)
  }
}
