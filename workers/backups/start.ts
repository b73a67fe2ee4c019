import { Gauge, type Registry } from 'prom-client'
import type { EffectiveConfig } from '../../config/schema.ts'
import type { Logger } from '../../runtime/process/log.ts'
import { backupState } from '../../store/backup/backup-records.ts'
import { backup } from '../../store/backup/command.ts'
import { withBackupLock } from '../../store/backup/lock.ts'
import type { Store } from '../../store/database/database.ts'
import { startPeriodicJob } from '../rounds.ts'

const INTERVAL_MS = 600_000
const HOUR_MS = 3_600_000

interface BackupJob {
  /** Looks once, now, or waits for the look that is under way. */
  look(): Promise<void>
  stop(): Promise<void>
}

type BackupConfig = Pick<EffectiveConfig, 'backupDir' | 'backupHours' | 'backupKeep' | 'dataDir'>

/** Writes a backup to the operator's folder when the last one, made here or by a command, is old enough. One job worker at a time does. */
export function startBackups(services: {
  store: Store
  databaseUrl: string
  config: BackupConfig
  log: Logger
  intervalMs?: number
}): BackupJob {
  const { store, databaseUrl, config, log, intervalMs = INTERVAL_MS } = services
  const { backupDir, backupHours, backupKeep: keep, dataDir } = config
  if (backupDir === undefined) return { look: async () => {}, stop: async () => {} }
  const isDue = async (): Promise<boolean> => (await backupState(store)).madeAgoMs > backupHours * HOUR_MS
  const look = async (): Promise<void> => {
    if (!(await isDue())) return
    await withBackupLock(databaseUrl, async () => {
      // Another job worker may have made it meanwhile.
      if (!(await isDue())) return
      const told = await backup(`${backupDir}/`, { databaseUrl, dataDir, searchPath: undefined, log, keep })
      log.info({ backupDir }, told)
    })
  }
  const rounds = startPeriodicJob(look, {
    intervalMs,
    atOnce: true,
    onError: (err) => log.error({ err, backupDir }, 'The backup failed; the next try is in ten minutes'),
  })
  return { look: () => rounds.now(), stop: () => rounds.stop() }
}

/** How old the last backup is, from the database: the same from every job worker. */
export function countBackups(
  registry: Registry,
  store: Store,
  { backupMaxAgeHours }: Pick<EffectiveConfig, 'backupMaxAgeHours'>,
): void {
  const age = new Gauge({
    name: 'patchbay_backup_age_seconds',
    help: 'Since the last backup was made; since the installation began where none was made',
    registers: [registry],
    collect: () => readBoth(),
  })
  const missing = new Gauge({
    name: 'patchbay_backup_recordings_missing',
    help: 'Recordings that the last backup did not find on its machine',
    registers: [registry],
    collect: () => readBoth(),
  })
  let reading: Promise<void> | undefined
  const readBoth = (): Promise<void> => {
    reading ??= (async () => {
      // The page has everything else while the database can't be asked.
      const state = await backupState(store).catch(() => undefined)
      age.remove()
      missing.remove()
      if (state === undefined) return
      age.set(state.ageMs / 1_000)
      if (state.recordingsMissing !== undefined) missing.set(state.recordingsMissing)
    })().finally(() => {
      reading = undefined
    })
    return reading
  }
  if (backupMaxAgeHours === 0) return
  new Gauge({
    name: 'patchbay_backup_age_limit_seconds',
    help: 'PATCHBAY_BACKUP_MAX_AGE_HOURS: an older last backup is an alert',
    registers: [registry],
  }).set(backupMaxAgeHours * 3_600)
}
