import { systemClock } from '../../../runtime/lib/clock.ts'
import { loadPlugins, type PluginRegistry } from '../../../runtime/plugin/host.ts'
import { createLogger, type Logger } from '../../../runtime/process/log.ts'
import { startVoice } from '../../../workers/voice/start.ts'
import type { TestApi } from '../instance/api.ts'
import { testReloads } from '../instance/reloads.ts'
import type { Teardown } from '../instance/services.ts'

/**
 * Starts a voice worker in this process beside a test api: the conversation itself, with the offline and simulated providers.
 * Resolves with its plugins.
 */
export async function startTestVoice(
  t: Teardown,
  api: TestApi,
  env: Record<string, string> = {},
  log: Logger = createLogger({ level: process.env.TEST_LOG_LEVEL ?? 'silent', name: 'voice' }),
): Promise<PluginRegistry> {
  const stopping = new AbortController()
  const config = { ...api.config, apiUrls: [api.url.replace(/^http/, 'ws')], workerMaxLagMs: 60_000 }
  const { signal } = stopping
  const plugins = await loadPlugins({ config, env, log, signal })
  const worker = await startVoice({
    ...{
      config,
      reloads: testReloads(config, log),
      env,
      plugins,
      log,
      clock: systemClock,
      requestStop: () => {},
      signal,
    },
  })
  t.teardown(async () => {
    await worker.stop(0)
    stopping.abort()
  })
  return plugins
}
