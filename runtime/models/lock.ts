import { mkdir, readFile, rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import Type, { type Static } from 'typebox'
import { Compile } from 'typebox/compile'
import { PatchbayError } from '../errors.ts'

const Pulled = Type.Object({
  repository: Type.String(),
  /** The commit of the repository. */
  revision: Type.String(),
  license: Type.String(),
  /** Path → size in bytes and digest, `sha256:…` or `git:…` (of the blob). */
  files: Type.Record(Type.String(), Type.Object({ bytes: Type.Integer(), digest: Type.String() })),
})
const LockSchema = Type.Object({ models: Type.Record(Type.String({ pattern: '^[a-z0-9-]+/[a-z0-9.-]+$' }), Pulled) })
const validator = Compile(LockSchema)

export type PulledModel = Static<typeof Pulled>
/** What was downloaded, by `plugin/model`. */
export type ModelLock = Static<typeof LockSchema>

/** Where the models of a plugin are kept; one folder each. */
export const modelsFolder = (dataDir: string, plugin: string): string => join(dataDir, 'models', plugin)

const lockFile = (dataDir: string): string => join(dataDir, 'models', 'models.lock.json')

/** What is on this machine; nothing where no file says so. Throws `configuration` for a file that makes no sense. */
export async function readModelLock(dataDir: string): Promise<ModelLock> {
  const file = lockFile(dataDir)
  try {
    const lock: unknown = JSON.parse(await readFile(file, 'utf8'))
    if (validator.Check(lock)) return lock
    throw new Error('it is not a lock of models')
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === 'ENOENT') return { models: {} }
    const why = cause instanceof Error ? cause.message : cause
    const reason = `${file}: ${why}; remove it and pull the models again: what is there is not downloaded twice`
    throw new PatchbayError('configuration', { params: { reason }, cause })
  }
}

/** Replaces the lock at once. */
export async function writeModelLock(dataDir: string, lock: ModelLock): Promise<void> {
  const file = lockFile(dataDir)
  await mkdir(join(dataDir, 'models'), { recursive: true })
  await writeFile(`${file}.new`, `${JSON.stringify(lock, null, 2)}\n`)
  await rename(`${file}.new`, file)
}
