import type { RoleName } from './effective.ts'
import type { EffectiveConfig } from './schema.ts'

type Settings = Pick<
  EffectiveConfig,
  'metricsHost' | 'metricsToken' | 'adminPort' | 'adminPortGiven' | 'jobsAdminPort' | 'voiceAdminPort'
>

/** What lies between the default ports of two roles. */
const DISTANCES = { api: 0, jobs: 1, voice: 2 } as const
const SETTINGS = {
  api: 'PATCHBAY_ADMIN_PORT',
  jobs: 'PATCHBAY_JOBS_ADMIN_PORT',
  voice: 'PATCHBAY_VOICE_ADMIN_PORT',
} as const

/** Where a role serves its metrics, health and readiness. A port the operator named is that port and no other. */
export function operationsAddress(config: Settings, role: RoleName) {
  const given = {
    api: config.adminPortGiven ? config.adminPort : undefined,
    jobs: config.jobsAdminPort,
    voice: config.voiceAdminPort,
  }[role]
  const usual = config.adminPort === 0 ? 0 : config.adminPort + DISTANCES[role]
  return {
    host: config.metricsHost,
    token: config.metricsToken,
    port: given ?? usual,
    fixed: given !== undefined,
    setting: SETTINGS[role],
  }
}
