import { setTimeout as sleep } from 'node:timers/promises'
import { eventData } from '../../../api/events/data.ts'
import { subjects } from '../../../api/tests/subjects.ts'
import { systemClock } from '../../../runtime/lib/clock.ts'
import { loadPlugins } from '../../../runtime/plugin/host.ts'
import { createLogger, type Logger } from '../../../runtime/process/log.ts'
import { startJobs } from '../../../workers/start.ts'
import type { ApiClient, TestApi } from './api.ts'
import { testReloads } from './reloads.ts'
import type { Teardown } from './services.ts'

/** Starts a job worker in this process beside a test api; ends with `t`, or sooner by `stop`. `env` is for its plugins. */
export async function startTestJobs(
  t: Teardown,
  api: TestApi,
  env: Record<string, string> = {},
  log: Logger = createLogger({ level: process.env.TEST_LOG_LEVEL ?? 'silent', name: 'jobs' }),
): Promise<{ stop(): Promise<void> }> {
  const stopping = new AbortController()
  const { config, databaseUrl, redisUrl } = api
  const { signal } = stopping
  const plugins = await loadPlugins({ config, env, log, signal })
  const role = await startJobs(
    {
      config,
      reloads: testReloads(config, log),
      env,
      plugins,
      log,
      clock: systemClock,
      requestStop: () => {},
      signal,
      databaseUrl,
      redisUrl,
    },
    { eventData, subjects },
  )
  const stop = async () => {
    await role.stop(1000)
    stopping.abort()
  }
  t.teardown(stop)
  return { stop }
}

/** Waits until none of the agent's documents is `processing`, and returns them. */
export async function settledDocuments(client: ApiClient, agentId: string, timeoutMs = 120_000) {
  const deadline = performance.now() + timeoutMs
  for (;;) {
    const { body } = await client.get(`/agents/${agentId}/documents`)
    if (body.every((document: { status: string }) => document.status !== 'processing')) return body
    if (performance.now() > deadline) throw new Error(`Still processing: ${JSON.stringify(body)}`)
    await sleep(50)
  }
}
