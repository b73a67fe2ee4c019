import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { Host } from '../../packages/plugin/mod.ts'
import type { Model } from './model.ts'

/** Whether the files of a model are on this machine: all, none, or some of them. */
export function existingParts({ modelsDir }: Host, { id, parts }: Model): 'whole' | 'absent' | 'damaged' {
  const dir = join(modelsDir ?? '', id)
  if (modelsDir === undefined || !existsSync(dir)) return 'absent'
  return Object.values(parts).every((path) => existsSync(join(dir, path))) ? 'whole' : 'damaged'
}
