import { join } from 'node:path'
import Type, { type Static } from 'typebox'
import { LockFile } from '../process/lock-file.ts'

const Pulled = Type.Object({
  repository: Type.String(),
  /** The commit of the repository. */
  revision: Type.String(),
  license: Type.String(),
  /** Path → size in bytes and digest, `sha256:…` or `git:…` (of the blob). */
  files: Type.Record(Type.String(), Type.Object({ bytes: Type.Integer(), digest: Type.String() })),
})
const LockSchema = Type.Object({ models: Type.Record(Type.String({ pattern: '^[a-z0-9-]+/[a-z0-9.-]+$' }), Pulled) })

/** What was downloaded, by `plugin/model`. */
export type ModelLock = Static<typeof LockSchema>

/** Where the models of a plugin are kept; one folder each. */
export const modelsFolder = (dataDir: string, plugin: string): string => join(dataDir, 'models', plugin)

/** What is on this machine. */
export const modelLock = new LockFile({
  path: 'models/models.lock.json',
  schema: LockSchema,
  empty: () => ({ models: {} }),
  cure: 'remove it and pull the models again: what is there is not downloaded twice',
})
