import t from 'tap'
import { deriveConfig } from '../../../config/effective.ts'
import { loadConfig } from '../../../config/load.ts'
import { RELOADED_VARIABLES, reloadedConfig } from '../../../config/reload.ts'

const started = loadConfig({ PATCHBAY_LOG_LEVEL: 'info', PORT: '8080' })
const secrets = { jwtApiSecret: 'generated', dataKey: 'generated', linkToken: 'generated' }
const current = { ...deriveConfig(started), ...secrets }

t.test('log level, capacity, prices and calling rules are taken while a process runs', async (t) => {
  t.same([...RELOADED_VARIABLES].sort(), [
    'PATCHBAY_CALLING_RULES',
    'PATCHBAY_LOG_LEVEL',
    'PATCHBAY_PRICES',
    'PATCHBAY_WORKER_CAPACITY',
  ])
  const next = loadConfig({ PATCHBAY_LOG_LEVEL: 'debug', PATCHBAY_WORKER_CAPACITY: '30', PORT: '8080' })
  const { config, changed, needsRestart } = reloadedConfig(current, started, next)
  t.same([config.logLevel, config.workerCapacity], ['debug', 30])
  t.same([...changed].sort(), ['PATCHBAY_LOG_LEVEL', 'PATCHBAY_WORKER_CAPACITY'])
  t.same(needsRestart, [])
  t.equal(config.jwtApiSecret, 'generated', 'what was generated stays')
})

t.test('what else changed is named and stays as it was', async (t) => {
  const next = loadConfig({ PATCHBAY_LOG_LEVEL: 'info', PORT: '9000', PATCHBAY_TRUSTED_PROXIES: '10.0.0.1' })
  const { config, changed, needsRestart } = reloadedConfig(current, started, next)
  t.equal(config.port, 8080)
  t.same(changed, [])
  t.same([...needsRestart].sort(), ['PATCHBAY_TRUSTED_PROXIES', 'PORT'])
})

t.test('a setting that was set back is unchanged', async (t) => {
  const once = reloadedConfig(current, started, loadConfig({ PATCHBAY_LOG_LEVEL: 'debug', PORT: '8080' })).config
  t.same(reloadedConfig(once, started, started).changed, ['PATCHBAY_LOG_LEVEL'])
  t.equal(reloadedConfig(once, started, started).config.logLevel, 'info')
})
