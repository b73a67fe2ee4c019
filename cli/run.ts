import { createServer } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { processEnvironment } from '../config/load.ts'
import { misspeltVariables } from '../config/misspelt-variables.ts'
import { type EffectiveConfig, SETTINGS } from '../config/schema.ts'
import { inBackground } from '../runtime/lib/async/boundary.ts'
import { reportFaultsTo } from '../runtime/lib/async/faults.ts'
import { systemClock } from '../runtime/lib/clock.ts'
import { defaultProviders } from '../runtime/plugin/default-providers.ts'
import { describeDefaults } from '../runtime/plugin/describe-defaults.ts'
import { refusals } from '../runtime/plugin/grants/refusals.ts'
import { allowInfrastructure, installGuard } from '../runtime/plugin/guard/guard.ts'
import { loadPlugins } from '../runtime/plugin/host.ts'
import type { RoleContext, VoiceContext } from '../runtime/plugin/role.ts'
import { faultLog } from '../runtime/process/fault-log.ts'
import { CRASH } from '../runtime/process/lifecycle.ts'
import type { Logger } from '../runtime/process/log.ts'
import { endSpawner } from '../runtime/process/offload/spawner.ts'
import { raise } from '../runtime/process/priority.ts'
import { engineThreads, NODE_PRIORITY, runLoopInRealtime, VOICE_PRIORITY } from '../runtime/process/realtime.ts'
import { DrainLog } from './drain-log.ts'
import { startJobWorker } from './job-worker.ts'
import { type Run, type Running, say } from './running.ts'
import { connectServices, SERVICES_STOP_MS } from './services.ts'
import { openFilesLimit, startWarnings } from './start-warnings.ts'
import { startVoiceWorkers } from './voice-workers.ts'

/** On top of the drain: what closing sockets and pools may take. */
const STOP_MARGIN_MS = 2_000
/** After an error that nobody handled. */
const CRASH_DRAIN_MS = 60_000
/** What balancers take to ask again whether a node is ready. */
const LEAVE_MS = 5_000
/** A stop during the start waits so long for the start: what is half made can't be stopped cleanly. A second signal hurries. */
const START_SETTLES_MS = 15_000
const FORCED_STOP_MS = 5_000

/** Already in the configuration; nothing else in the process shall find them. */
const OWN_SECRETS = Object.values(SETTINGS).flatMap((setting) => ('secret' in setting ? [setting.env] : []))

/** Starts the roles, serves until it is told to stop, and stops them gracefully. */
export async function run(options: Run): Promise<void> {
  const { stop, config, log } = options
  reportFaultsTo(faultLog(log, systemClock))
  const engine = engineThreads()
  if (config.audioFirst !== 'false' && carriesAudio(options)) raise(process.pid)
  const running: Running = { roles: [], voiceWorkers: [], stopping: false }
  options.reloading.listen(running)
  const closing = new AbortController()
  let failure: unknown
  let graceMs = 0
  let draining: DrainLog | undefined
  const starting = start(options, running, closing.signal, engine)
  try {
    const reason = await Promise.race([starting.then(() => stop.requested), stop.requested])
    running.stopping = true
    graceMs = graceFor(options, reason)
    draining = new DrainLog({ log, roles: running.roles, reason, limitMs: graceMs })
    say(options, `${reason === CRASH ? 'After an error: ' : ''}${stoppingWords(running, graceMs)}`)
  } catch (error) {
    failure = error
  }
  const hurry = stop.forced.then(async () => {
    // Cutting the children may let the graceful end come first: it was forced all the same.
    process.exitCode = 130
    draining?.forced()
    closing.abort()
    await Promise.race([endChildren(running), sleep(FORCED_STOP_MS)])
    process.exit(130)
  })
  // What was being started when the stop came is stopped with the rest; that it did not come about is no news.
  const settled = starting.catch((err) => options.log.debug({ err }, 'The start was broken off'))
  if (failure === undefined && !closing.signal.aborted) await leave(options, running, stop.forced)
  await Promise.race([
    hurry,
    Promise.race([settled, sleep(START_SETTLES_MS)]).then(() => stopAll(options, running, graceMs, closing)),
  ])
  if (failure !== undefined) throw failure
  draining?.stopped()
  say(options, 'Stopped')
}

async function start(options: Run, running: Running, signal: AbortSignal, engine: readonly number[]): Promise<void> {
  const { roles, selfContained, config, log } = options
  const startedAtMs = performance.now()
  const env = processEnvironment()
  const { workerCapacity } = config
  const openFiles = await openFilesLimit()
  for (const warning of startWarnings({ roles, selfContained, workerCapacity, openFiles })) log.warn(warning)
  const consoleFolder = roles.includes('api') ? buildConsole(options, signal) : undefined
  const plugins = await loadPlugins({ config, env, log, signal })
  const defaults = roles.includes('api') ? defaultProviders(plugins, config) : undefined
  for (const warning of misspeltVariables(options.envFile, plugins.variables)) log.warn(warning)
  const requestStop = (reason: string): void => options.stop.request(reason)
  const voiceContext: VoiceContext<EffectiveConfig> = {
    config,
    env,
    plugins,
    log,
    clock: systemClock,
    requestStop,
    signal,
    reloads: options.reloading.reloads,
  }
  if (roles.includes('api')) await requireFreePort(config.port, config.host)
  // Chats and samples of voices need it: half a second of a loop that shall carry calls by then. A job worker loads it with its first
  // analysis or test: 50 MiB.
  const speech = roles.includes('api') ? import('@livekit/agents') : undefined
  const services = roles.includes('api') || roles.includes('jobs') ? await connectServices(options, running) : undefined
  if (running.stopping) return
  await speech
  if (services !== undefined) {
    const mail = config.smtpUrl === undefined ? [] : [config.smtpUrl]
    const collector = config.otlpEndpoint === undefined ? [] : [config.otlpEndpoint]
    allowInfrastructure([services.databaseUrl, services.redisUrl, ...mail, ...collector])
  }
  if (roles.includes('voice') && !selfContained) allowInfrastructure(config.apiUrls)
  const pluginFolders = plugins.plugins.map(({ dir }) => dir)
  const regrant = installGuard({
    grants: () => plugins.ambientGrants(kindsOf(options)),
    pluginFolders,
    hide: [...OWN_SECRETS, ...plugins.variables],
    env,
    log,
    refusals,
  })
  plugins.keys.watch(regrant)
  options.reloading.reloads.watch(() => plugins.readModels())
  if (services !== undefined) {
    const { openDatabaseClock } = await import('../store/database/database-clock.ts')
    const clock = await openDatabaseClock({ ...services, machine: systemClock, log, signal })
    const context: RoleContext<EffectiveConfig> = { ...voiceContext, ...services, clock }
    if (roles.includes('api')) {
      say(options, 'Starting the API')
      const { startApi } = await import('../api/start.ts')
      running.roles.push(
        await startApi({
          ...context,
          hasOwnWorkers: selfContained && config.voiceWorkers > 0,
          ...(consoleFolder && { consoleFolder }),
        }),
      )
    }
    if (roles.includes('jobs') && !selfContained && !running.stopping) {
      say(options, 'Starting the job worker')
      const [{ startJobs }, { eventData }, { subjects }] = await Promise.all([
        import('../workers/start.ts'),
        import('../api/events/data.ts'),
        import('../api/tests/subjects.ts'),
      ])
      running.roles.push(await startJobs(context, { eventData, subjects }))
    }
  }
  if (running.stopping) return
  const enableRealtimeScheduling = async (): Promise<void> => {
    if (config.audioFirst !== 'true' || !carriesAudio(options)) return
    const isNode = roles.includes('api')
    await runLoopInRealtime(log, isNode ? NODE_PRIORITY : VOICE_PRIORITY, engine)
  }
  if (selfContained && services !== undefined) {
    // Before its voice workers: beside loops in real time one that is not yet hardly comes to its turn, and all calls' audio with it.
    const voice = enableRealtimeScheduling().then(() =>
      running.stopping ? undefined : startVoiceWorkers(options, running, plugins),
    )
    await Promise.all([startJobWorker(options, running, services), voice])
  } else if (roles.includes('voice')) {
    const { startVoice } = await import('../workers/voice/start.ts')
    running.roles.push(await startVoice(voiceContext))
  }
  if (running.stopping) return
  // What starts takes what it can get of the processor; it carries no audio yet.
  if (!selfContained) inBackground('process', enableRealtimeScheduling())
  // The parent says that calls are taken only once they are.
  inBackground(
    'process',
    Promise.all(running.roles.map((role) => role.serving)).then(() => process.send?.('ready')),
  )
  const seconds = ((performance.now() - startedAtMs) / 1_000).toFixed(1)
  const url = running.roles.find((role) => role.name === 'api')?.url
  log.info({ roles, ...(url === undefined ? {} : { url }) }, `Started in ${seconds} s`)
  announce(options, running, defaults === undefined ? [] : describeDefaults(plugins, defaults))
}

const carriesAudio = ({ roles }: Run): boolean => roles.includes('api') || roles.includes('voice')

/** The folder of the console, soon: where it must be built, nothing waits for it. */
function buildConsole(options: Run, signal: AbortSignal): Promise<string> {
  const folder = import('../web/console/ensure-built.ts').then(({ ensureBuilt }) =>
    ensureBuilt(signal, () => say(options, 'Building the console (once)')),
  )
  // The api node says what is wrong with it.
  folder.catch(() => {})
  return folder
}

/** What plugins a process of these roles makes. The api asks speech plugins whether their keys are taken. */
function kindsOf({ roles }: Run): ('stt' | 'llm' | 'tts' | 'embedding' | 'vectorstore')[] {
  const speech = ['stt', 'llm', 'tts'] as const
  return roles.includes('api') || roles.includes('jobs') ? [...speech, 'embedding', 'vectorstore'] : [...speech]
}

/** Before anything is started, and the database brought up to date, for a port that somebody else has. */
async function requireFreePort(port: number, host: string): Promise<void> {
  if (port === 0) return
  const probe = createServer()
  const isFree = await new Promise<boolean>((resolve) => {
    probe.once('error', () => resolve(false))
    probe.listen(port, host, () => probe.close(() => resolve(true)))
  })
  if (isFree) return
  const { listenFault } = await import('../api/http/listen-fault.ts')
  throw await listenFault(host, port)
}

/** Says that it is not ready, and goes on serving until balancers have noticed: they send their calls to api nodes alone. */
async function leave({ config, roles, selfContained }: Run, running: Running, forced: Promise<void>): Promise<void> {
  for (const role of running.roles) role.leave?.()
  if (!roles.includes('api')) return
  const leaveMs = config.leaveMs ?? (selfContained ? 0 : LEAVE_MS)
  if (leaveMs > 0) await Promise.race([sleep(leaveMs), forced])
}

/**
 * How long calls may go on. After an error they do not in a voice worker, whose calls another one takes over at once; nobody takes
 * over those of an api node, which is not trusted for an hour any more.
 */
function graceFor({ roles, config }: Run, reason: string): number {
  if (reason !== CRASH) return config.drainMs
  return roles.includes('api') ? Math.min(config.drainMs, CRASH_DRAIN_MS) : 0
}

function stoppingWords({ roles }: Running, drainMs: number): string {
  const calls = roles.reduce((sum, role) => sum + (role.calls?.() ?? 0), 0)
  if (calls === 0) return 'Stopping'
  const minutes = drainMs < 60_000 ? `${Math.ceil(drainMs / 1_000)} s` : `${Math.round(drainMs / 60_000)} min`
  const who = calls === 1 ? 'a call is running and may' : `${calls} calls are running and may`
  return `Stopping: ${who} go on for ${minutes}; Ctrl-C again ends them now`
}

/** Sessions first, then the voice workers that serve them, then the services everybody uses. */
async function stopAll({ log }: Run, running: Running, graceMs: number, closing: AbortController): Promise<void> {
  await Promise.all([
    ...running.roles.map((role) => withinMs(role.stop(graceMs), graceMs + STOP_MARGIN_MS, role.name, log)),
    running.jobWorker?.stop(graceMs + STOP_MARGIN_MS),
  ])
  await Promise.all(running.voiceWorkers.map((worker) => worker.stop(graceMs + STOP_MARGIN_MS)))
  closing.abort()
  running.followedPrimary?.close()
  await Promise.all([running.embedded?.stop(SERVICES_STOP_MS), endSpawner()])
}

/** The operator does not want to wait: calls are cut, data are still written. */
async function endChildren(running: Running): Promise<void> {
  await Promise.all([running.jobWorker, ...running.voiceWorkers].map((child) => child?.stop(0)))
  await running.embedded?.stop(FORCED_STOP_MS)
}

async function withinMs(stopping: Promise<void>, limitMs: number, name: string, log: Logger): Promise<void> {
  const timer = new AbortController()
  const late = sleep(limitMs, undefined, { signal: timer.signal }).then(
    () => log.warn({ role: name, limitMs }, 'The role did not stop in time'),
    () => {},
  )
  const failed = stopping.catch((err: unknown) => log.error({ err, role: name }, 'The role did not stop cleanly'))
  await Promise.race([failed, late])
  timer.abort()
}

function announce(options: Run, running: Running, notices: readonly string[]): void {
  const { port, publicUrl, dataDir } = options.config
  const own = running.roles.find((role) => role.name === 'api')?.url?.replace('127.0.0.1', 'localhost')
  const url = port === 0 && own !== undefined ? own : publicUrl
  const demo = url === 'http://localhost:8080' ? 'npm run demo' : `npm run demo -- --url=${url}`
  const hints = [
    [url, 'the console: talk to an agent in the browser'],
    [demo, 'a simulated caller talks to an agent, live in the terminal'],
    [`${url}/docs`, 'the documentation, and the API to try'],
    ['Ctrl-C', `stops everything; data stay in ${dataDir}`],
  ] as const
  const width = Math.max(...hints.map(([what]) => what.length))
  const lines = hints.map(([what, does]) => `  ${what.padEnd(width)}   ${does}\n`)
  const signup = running.roles.find((role) => role.name === 'api')?.notice
  const told = notices.map((notice) => `\n${notice}\n`)
  const first = signup === undefined ? '' : `${signup}\n`
  say(options, `\nPatchbay listens on ${own ?? url}\n${first}\n${lines.join('')}${told.join('')}`)
}
