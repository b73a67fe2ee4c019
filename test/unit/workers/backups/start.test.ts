import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { Registry } from 'prom-client'
import t from 'tap'
import { createLogger } from '../../../../runtime/process/log.ts'
import { openStore } from '../../../../store/database/database.ts'
import { countBackups, startBackups } from '../../../../workers/backups/start.ts'
import { testDatabase, testFolder } from '../../../support/instance/services.ts'

const log = createLogger({ level: 'silent', name: 'test' })

t.test('job workers make one backup when it is due, and its age is a metric', async (t) => {
  const databaseUrl = await testDatabase(t)
  const store = openStore({ databaseUrl })
  t.teardown(() => store.close())
  const folder = await testFolder(t)
  const backupDir = join(folder, 'backups')
  const config = { backupDir, backupHours: 24, backupKeep: 2, backupMaxAgeHours: 36, dataDir: join(folder, 'data') }
  const services = { store, databaseUrl, config, log, intervalMs: 3_600_000 }
  const jobs = [startBackups(services), startBackups(services)]
  t.teardown(() => Promise.all(jobs.map((job) => job.stop())))
  const look = () => Promise.all(jobs.map((job) => job.look()))
  await look()
  t.equal((await readdir(backupDir)).length, 1, 'one of the two made it')
  await look()
  t.equal((await readdir(backupDir)).length, 1, 'and none before it is due again')

  const registry = new Registry()
  countBackups(registry, store, config)
  const metric = async (name: string) => Number(new RegExp(`^${name} (.*)$`, 'm').exec(await registry.metrics())?.[1])
  t.ok((await metric('patchbay_backup_age_seconds')) < 60)
  t.equal(await metric('patchbay_backup_age_limit_seconds'), 36 * 3_600)
  t.equal(await metric('patchbay_backup_recordings_missing'), 0)
  await store.pool.query(`update backups set made_at = made_at - interval '25 hours'`)
  t.ok((await metric('patchbay_backup_age_seconds')) > 25 * 3_600 - 1)
  await look()
  t.equal((await store.pool.query('select from backups')).rowCount, 2, 'a second one a day later')
})

t.test('nothing is made without a folder, and a metric whose database is gone fails no scrape', async (t) => {
  const store = openStore({ databaseUrl: 'postgres://127.0.0.1:1/x' })
  t.teardown(() => store.close())
  const registry = new Registry()
  countBackups(registry, store, { backupMaxAgeHours: 0 })
  t.notMatch(await registry.metrics(), /^patchbay_backup.* [\d.]+$/m)
  const config = { backupDir: undefined, backupHours: 24, backupKeep: 2, dataDir: '/nowhere' }
  await startBackups({ store, databaseUrl: '', config, log }).look()
})
