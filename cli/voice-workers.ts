import { fork } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { processEnvironment } from '../config/load.ts'
import type { PluginRegistry } from '../runtime/plugin/host.ts'
import { supervise } from '../runtime/supervisor.ts'
import { VOICE_NODE_OPTIONS } from '../workers/voice/node-options.ts'
import { type Run, type Running, say } from './running.ts'

const MAIN = join(import.meta.dirname, '../main.ts')
const VOICE_READY_TIMEOUT_MS = 60_000

/** The addresses and secrets of the store, and of what only api nodes do. */
const STORE_SETTINGS = [
  'DATABASE_URL',
  'REDIS_URL',
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
  const { config, log, flags } = options
  if (config.voiceWorkers === 0) return
  say(options, `Starting ${config.voiceWorkers === 1 ? 'a voice worker' : `${config.voiceWorkers} voice workers`}`)
  const api = running.roles.find((role) => role.name === 'api')
  const env = voiceEnvironment(plugins)
  const apiUrls = env.PATCHBAY_API_URLS || (api?.url?.replace(/^http/, 'ws') ?? config.apiUrls.join(','))
  const first = config.voiceAdminPort
  const ownPort = (index: number) =>
    first === undefined || first === 0 ? {} : { PATCHBAY_VOICE_ADMIN_PORT: String(first + index) }
  const workers = Array.from({ length: config.voiceWorkers }, (_, index) =>
    supervise({
      name: `Voice worker ${index + 1}`,
      log,
      // A group of its own: a terminal's Ctrl-C reaches the parent, which lets the calls end first.
      spawn: () =>
        fork(MAIN, ['voice', ...flags], {
          detached: true,
          execArgv: [...process.execArgv, ...VOICE_NODE_OPTIONS],
          stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
          env: {
            ...env,
            ...ownPort(index),
            PATCHBAY_API_URLS: apiUrls,
            PATCHBAY_LINK_TOKEN: config.linkToken,
            PATCHBAY_ENV_FILE: 'none',
          },
        }),
      ready: async (child, signal) => void (await once(child, 'message', { signal })),
      readyTimeoutMs: VOICE_READY_TIMEOUT_MS,
      stopSignal: 'SIGTERM',
    }).then((worker) => running.voiceWorkers.push(worker)),
  )
  const failed = (await Promise.allSettled(workers)).find((result) => result.status === 'rejected')
  if (failed !== undefined) throw failed.reason
}
