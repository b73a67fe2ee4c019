import { processEnvironment } from '../config/load.ts'
import type { PluginRegistry } from '../runtime/plugin/host.ts'
import { childRole } from './child-role.ts'
import { VOICE_NODE_OPTIONS } from './node-options.ts'
import { type Run, type Running, say } from './running.ts'

/** The addresses and secrets of the store, and of what only api nodes do. */
const STORE_SETTINGS = [
  'DATABASE_URL',
  'REDIS_URL',
  'REDIS_SENTINELS',
  'JWT_API_SECRET',
  'PATCHBAY_DATA_KEY',
  'PATCHBAY_DATA_KEY_OLD',
  'SMTP_URL',
]

/** A voice worker's environment: without the addresses and secrets of the store, and without keys of plugins it doesn't run. */
function voiceEnvironment(plugins: PluginRegistry): NodeJS.ProcessEnv {
  const env: NodeJS.ProcessEnv = { ...processEnvironment() }
  for (const name of STORE_SETTINGS) delete env[name]
  const used = new Set(plugins.ambientGrants(['stt', 'llm', 'tts']).flatMap((grants) => [...grants.env]))
  for (const name of plugins.variables) if (!used.has(name)) delete env[name]
  return env
}

/** One child process per voice worker. */
export async function startVoiceWorkers(options: Run, running: Running, plugins: PluginRegistry): Promise<void> {
  const { config } = options
  if (config.voiceWorkers === 0) return
  say(options, `Starting ${config.voiceWorkers === 1 ? 'a voice worker' : `${config.voiceWorkers} voice workers`}`)
  const api = running.roles.find((role) => role.name === 'api')
  const env = voiceEnvironment(plugins)
  const apiUrls = env.PATCHBAY_API_URLS || (api?.url?.replace(/^http/, 'ws') ?? config.apiUrls.join(','))
  const first = config.voiceAdminPort
  const ownPort = (index: number) =>
    first === undefined || first === 0 ? {} : { PATCHBAY_VOICE_ADMIN_PORT: String(first + index) }
  const workers = Array.from({ length: config.voiceWorkers }, (_, index) =>
    childRole(options, {
      name: `Voice worker ${index + 1}`,
      role: 'voice',
      env: { ...env, ...ownPort(index), PATCHBAY_API_URLS: apiUrls },
      nodeOptions: VOICE_NODE_OPTIONS,
    }).then((worker) => running.voiceWorkers.push(worker)),
  )
  const failed = (await Promise.allSettled(workers)).find((result) => result.status === 'rejected')
  if (failed !== undefined) throw failed.reason
}
