import type { EffectiveConfig } from '../../../config/schema.ts'
import type { Logger } from '../../../runtime/process/log.ts'
import { Reloads } from '../../../runtime/process/reloads.ts'

/** Reloads of a role in the test's own process: its settings stay, the files that they name are read anew. */
export function testReloads(config: EffectiveConfig, log: Logger): Reloads<EffectiveConfig> {
  return new Reloads(() => ({ config, changed: [], needsRestart: [] }), log)
}
