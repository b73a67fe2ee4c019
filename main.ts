/**
 * The command line: reads the configuration, starts the roles it names, stops them gracefully.
 * Every role is imported only where it runs, so a voice worker never loads the database driver.
 */
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { describeConfig } from './config/describe.ts'
import { deriveConfig, effectiveConfig, type RoleName } from './config/effective.ts'
import type { EnvFile } from './config/env-file.ts'
import { loadConfig, processEnvironment, useEnvFile } from './config/load.ts'
import { misspeltVariables } from './config/misspelt-variables.ts'
import { operationsAddress } from './config/operations-address.ts'
import { type Config, type EffectiveConfig, SETTINGS } from './config/schema.ts'
import { systemClock } from './runtime/clock.ts'
import { PatchbayError } from './runtime/errors.ts'
import { type StopRequests, watchStopRequests } from './runtime/lifecycle.ts'
import { createLogger, type Logger } from './runtime/log.ts'
import { raiseLoopPriority } from './runtime/low-priority.ts'
import { nearest } from './runtime/nearest.ts'
import { defaultProviders } from './runtime/plugin/default-providers.ts'
import { describeDefaults } from './runtime/plugin/describe-defaults.ts'
import { allowInfrastructure, installGuard } from './runtime/plugin/guard.ts'
import { loadPlugins, type PluginRegistry } from './runtime/plugin/host.ts'
import { refusals } from './runtime/plugin/refusals.ts'
import type { Role, RoleContext, VoiceContext } from './runtime/role.ts'
import { type Supervised, supervise } from './runtime/supervisor.ts'
import type { EmbeddedServices } from './store/embedded.ts'
import { VOICE_NODE_OPTIONS } from './workers/voice/node-options.ts'

const USAGE = `Usage: patchbay <command> [--allow-net=plugin:host:port,…] [--allow-env=…] [--allow-run=…]
                          [--allow-read=…] [--allow-listen=…]

  start     everything on this machine: database, Redis, api, jobs and voice workers
  api       an api node                (DATABASE_URL, REDIS_URL)
  jobs      a job worker               (DATABASE_URL, REDIS_URL)
  voice     a voice worker             (PATCHBAY_API_URLS)
  backup    copies database, files and secrets into one file, also while it runs: backup <file.tar.gz>
  restore   fills an empty installation from such a file: restore <file.tar.gz>
  move      copies the data into another PostgreSQL: move --to=postgres://…
  migrate   brings the database up to date, and ends (DATABASE_URL)
  config    the effective configuration, secrets masked
  doctor    asks every provider that has its key whether it serves, and how fast;
            doctor sip, doctor webrtc: looks at the SIP trunks of the running api node, at
            its media worker, port and addresses
  rules     when the law lets campaigns call: rules [number] [instant]
  drain     tells the running api node (drain jobs, drain voice: that role) on this machine to
            stop once its calls are over, and waits for it: drain [role] [--port=9080]
  plugins   the plugins, what they offer, ask for and are granted;
            plugins add, update, remove, test, new: plugins of others (plugins help)
  models    models that hear and speak on this machine, without a key: models engine, pull, remove
  admin     users, signup, suspensions, the audit log, from the shell: patchbay admin help
  version   which Patchbay this is
  help      this text

Several roles may be named: patchbay api jobs.
`
const ROLES = ['api', 'jobs', 'voice'] as const satisfies readonly RoleName[]
const COMMANDS = [
  'start',
  ...ROLES,
  'backup',
  'restore',
  'move',
  'migrate',
  'config',
  'doctor',
  'plugins',
  'models',
  'rules',
  'admin',
  'drain',
  'version',
  'help',
]

/** On top of the drain: what closing sockets and pools may take. */
const STOP_MARGIN_MS = 2_000
/** What balancers take to ask again whether a node is ready. */
const LEAVE_MS = 5_000
const SERVICES_STOP_MS = 15_000
/** A stop during the start waits so long for the start: what is half made can't be stopped cleanly. A second signal hurries. */
const START_SETTLES_MS = 15_000
const FORCED_STOP_MS = 5_000
const VOICE_READY_TIMEOUT_MS = 60_000

/** Already in the configuration; nothing else in the process shall find them. */
const OWN_SECRETS = Object.values(SETTINGS).flatMap((setting) => ('secret' in setting ? [setting.env] : []))

/** The addresses and secrets of the store, and of what only api nodes do. */
const STORE_SETTINGS = [
  'DATABASE_URL',
  'REDIS_URL',
  'JWT_API_SECRET',
  'PATCHBAY_DATA_KEY',
  'PATCHBAY_DATA_KEY_OLD',
  'SMTP_URL',
]

let log: Logger | undefined

async function main(argv: readonly string[]): Promise<void> {
  const flags = argv.filter(
    (argument) =>
      argument.startsWith('-') &&
      !['--help', '-h', '--version', '--grant=all', '--no-test'].includes(argument) &&
      !/^--(port|to)=/.test(argument),
  )
  const words = argv.filter((argument) => !argument.startsWith('-'))
  const [command = argv.includes('--version') ? 'version' : 'help'] = words
  const unknown = words.find(
    (word, at) =>
      !COMMANDS.includes(word) &&
      !(['doctor', 'plugins', 'models', 'rules', 'admin', 'drain', 'backup', 'restore'].includes(command) && at > 0),
  )
  if (unknown !== undefined) {
    const near = nearest(unknown, COMMANDS)
    fail(`"${unknown}" is not a command${near ? `, did you mean "${near}"?` : ''} See: npm run patchbay help`)
  }
  if (command === 'help' || argv.includes('--help') || argv.includes('-h')) {
    process.stdout.write(USAGE)
    return
  }
  if (command === 'version' || argv.includes('--version')) {
    const { version } = JSON.parse(await readFile(join(import.meta.dirname, 'package.json'), 'utf8')) as {
      version: string
    }
    process.stdout.write(`Patchbay ${version} (Node ${process.versions.node})\n`)
    return
  }
  const envFile = useEnvFile()
  const config = loadConfig(processEnvironment(), flags, envFile)
  if (command === 'config') {
    process.stdout.write(`${describeConfig(deriveConfig(config))}\n`)
  } else if (command === 'plugins' && words.length > 1) {
    const { PLUGINS_USAGE, runPluginsCommand } = await import('./runtime/plugin/install/cli.ts')
    const asked = { grantAll: argv.includes('--grant=all'), noTest: argv.includes('--no-test') }
    const say = (line: string): void => void process.stderr.write(`${line}\n`)
    const env = processEnvironment()
    const text =
      words[1] === 'help'
        ? PLUGINS_USAGE.trimEnd()
        : await runPluginsCommand({ words: words.slice(1), flags: asked, config, env, say })
    process.stdout.write(`${text}\n`)
  } else if (command === 'plugins') {
    const { describePlugins } = await import('./runtime/plugin/describe.ts')
    process.stdout.write(`${await describePlugins(config, { env: processEnvironment() })}\n`)
  } else if (command === 'models') {
    const { runModelsCommand } = await import('./runtime/models/cli.ts')
    const stop = new AbortController()
    process.once('SIGINT', () => stop.abort())
    const terminal = process.stderr.isTTY === true
    const say = (line: string): void => void process.stderr.write(line)
    const { dataDir, modelHub: hub } = config
    const text = await runModelsCommand({ words: words.slice(1), dataDir, hub, say, terminal, signal: stop.signal })
    process.stdout.write(`${text}\n`)
  } else if (command === 'backup' || command === 'restore' || command === 'move') {
    const commands = await import('./store/backup/command.ts')
    const log = createLogger({ level: 'warn', name: command })
    const { databaseUrl, dataDir } = config
    const options = { databaseUrl, dataDir, searchPath: processEnvironment().PATH, log }
    const to = argv.find((argument) => argument.startsWith('--to='))?.slice('--to='.length)
    const [, subject = to, ...more] = words
    if (subject === undefined || more.length > 0) {
      fail(
        `Usage: npm run patchbay ${command} ${command === 'move' ? '-- --to=postgres://user:password@host/database' : '<file.tar.gz>'}`,
      )
    }
    process.stdout.write(`${await commands[command](subject, options)}\n`)
  } else if (command === 'migrate') {
    const text = await withDatabase(config, 'migrate', async (_, applied) => {
      return applied.length === 0 ? 'The database is up to date' : `Updated the database: ${applied.join(', ')}`
    })
    process.stdout.write(`${text}\n`)
  } else if (command === 'admin') {
    await admin(words.slice(1), config)
  } else if (command === 'rules') {
    const { describeRules } = await import('./workers/dialer/describe-rules.ts')
    process.stdout.write(`${await describeRules(words.slice(1), config.callingRules, systemClock.nowMs())}\n`)
  } else if (command === 'drain') {
    const { runDrain } = await import('./runtime/operations/drain.ts')
    const [role = 'api', ...more] = words.slice(1)
    if (!isRole(role) || more.length > 0) fail('Say which role drains: npm run patchbay drain [api|jobs|voice]')
    const port = argv.find((argument) => argument.startsWith('--port='))?.slice('--port='.length)
    const asked = Number(port ?? operationsAddress(deriveConfig(config), role).port)
    await runDrain(asked, (line) => void process.stderr.write(`${line}\n`))
  } else if (command === 'doctor') {
    const { runDoctor } = await import('./runtime/doctor.ts')
    const { text, healthy } = await runDoctor(words.slice(1), { config, env: processEnvironment() })
    process.stdout.write(`${text}\n`)
    process.exitCode = healthy ? 0 : 1
  } else {
    const stop = watchStopRequests(() => log)
    const selfContained = command === 'start'
    const roles = selfContained ? ROLES : ROLES.filter((role) => words.includes(role))
    log = createLogger({ level: config.logLevel, name: selfContained ? 'patchbay' : roles.join('+') })
    await run({
      roles,
      selfContained,
      flags,
      stop,
      log,
      envFile,
      config: await effectiveConfig(config, { roles, selfContained }),
    })
  }
}

function isRole(word: string): word is RoleName {
  return ROLES.some((role) => role === word)
}

/**
 * Runs `work` on the operator's database, or the embedded one, whether or not it runs; brought up to date first. `applied`: the
 * migrations that took.
 */
async function withDatabase<T>(
  config: Config,
  name: string,
  work: (databaseUrl: string, applied: readonly string[]) => Promise<T>,
): Promise<T> {
  const quiet = createLogger({ level: 'warn', name })
  const [{ migrate }, { borrowDatabase }] = await Promise.all([
    import('./store/migrate.ts'),
    import('./store/embedded.ts'),
  ])
  const { dataDir } = config
  const own =
    config.databaseUrl === undefined
      ? await borrowDatabase({ dataDir, log: quiet, searchPath: processEnvironment().PATH })
      : undefined
  try {
    const databaseUrl = config.databaseUrl ?? own?.databaseUrl ?? ''
    const applied = await migrate(databaseUrl, quiet).catch((error) => unreachable('DATABASE_URL', 'PostgreSQL', error))
    return await work(databaseUrl, applied)
  } finally {
    await own?.stop(SERVICES_STOP_MS)
  }
}

async function admin(words: readonly string[], config: Config): Promise<void> {
  const { runAdmin } = await import('./api/operator/command.ts')
  const isHelp = words.length === 0 || words[0] === 'help'
  const text = isHelp
    ? await runAdmin(words, { config, databaseUrl: '' })
    : await withDatabase(config, 'admin', (databaseUrl) => runAdmin(words, { config, databaseUrl }))
  process.stdout.write(`${text.trimEnd()}\n`)
}

interface Run {
  readonly roles: readonly RoleName[]
  readonly selfContained: boolean
  readonly flags: readonly string[]
  readonly stop: StopRequests
  readonly log: Logger
  readonly envFile: EnvFile | undefined
  readonly config: EffectiveConfig
}

/** What runs, in the order it was started. */
interface Running {
  embedded?: EmbeddedServices
  roles: Role[]
  voiceWorkers: Supervised[]
  /** It was told to stop: nothing more is started. */
  stopping: boolean
}

async function run(options: Run): Promise<void> {
  const { stop, config, roles } = options
  if (roles.includes('api') || roles.includes('voice')) raiseLoopPriority()
  const running: Running = { roles: [], voiceWorkers: [], stopping: false }
  const closing = new AbortController()
  let failure: unknown
  const starting = start(options, running, closing.signal)
  try {
    const reason = await Promise.race([starting.then(() => stop.requested), stop.requested])
    running.stopping = true
    say(options, reason === 'error' ? 'Stopping after an error' : stoppingWords(running, config.drainMs))
  } catch (error) {
    failure = error
  }
  const hurry = stop.forced.then(async () => {
    // Cutting the children may let the graceful end come first: it was forced all the same.
    process.exitCode = 130
    closing.abort()
    await Promise.race([endChildren(running), sleep(FORCED_STOP_MS)])
    process.exit(130)
  })
  // What was being started when the stop came is stopped with the rest; that it did not come about is no news.
  const settled = starting.catch((err) => log?.debug({ err }, 'The start was broken off'))
  const graceMs = failure === undefined ? config.drainMs : 0
  if (failure === undefined && !closing.signal.aborted) await leave(options, running, stop.forced)
  await Promise.race([
    hurry,
    Promise.race([settled, sleep(START_SETTLES_MS)]).then(() => stopAll(running, graceMs, closing)),
  ])
  if (failure !== undefined) throw failure
  say(options, 'Stopped')
}

async function start(options: Run, running: Running, signal: AbortSignal): Promise<void> {
  const { roles, selfContained, config, log } = options
  const startedAtMs = performance.now()
  const env = processEnvironment()
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
  }
  if (roles.includes('api')) await requireFreePort(config.port, config.host)
  const services = roles.includes('api') || roles.includes('jobs') ? await connectServices(options, running) : undefined
  if (running.stopping) return
  if (services !== undefined) {
    const mail = config.smtpUrl === undefined ? [] : [config.smtpUrl]
    const collector = config.otlpEndpoint === undefined ? [] : [config.otlpEndpoint]
    allowInfrastructure([services.databaseUrl, services.redisUrl, ...mail, ...collector])
  }
  if (roles.includes('voice') && !selfContained) allowInfrastructure(config.apiUrls)
  const pluginFolders = plugins.plugins.map(({ dir }) => dir)
  installGuard({
    grants: plugins.ambientGrants(kindsOf(options)),
    pluginFolders,
    hide: [...OWN_SECRETS, ...plugins.variables],
    env,
    log,
    refusals,
  })
  if (services !== undefined) {
    const context: RoleContext<EffectiveConfig> = { ...voiceContext, ...services }
    if (roles.includes('api')) {
      say(options, 'Starting the API')
      const { startApi } = await import('./api/start.ts')
      running.roles.push(await startApi({ ...context, ...(consoleFolder && { consoleFolder }) }))
    }
    if (roles.includes('jobs') && !running.stopping) {
      say(options, 'Starting the job worker')
      const [{ startJobs }, { eventData }] = await Promise.all([
        import('./workers/start.ts'),
        import('./api/events/data.ts'),
      ])
      running.roles.push(await startJobs(context, eventData))
    }
  }
  if (running.stopping) return
  if (selfContained) {
    await startVoiceWorkers(options, running, plugins)
  } else if (roles.includes('voice')) {
    const { startVoice } = await import('./workers/voice/start.ts')
    running.roles.push(await startVoice(voiceContext))
  }
  if (running.stopping) return
  // The parent says that calls are taken only once they are.
  void Promise.all(running.roles.map((role) => role.serving)).then(() => process.send?.('ready'))
  const seconds = ((performance.now() - startedAtMs) / 1_000).toFixed(1)
  const url = running.roles.find((role) => role.name === 'api')?.url
  log.info({ roles, ...(url === undefined ? {} : { url }) }, `Started in ${seconds} s`)
  announce(options, running, defaults === undefined ? [] : describeDefaults(plugins, defaults))
}

/** The folder of the console, soon: where it must be built, nothing waits for it. */
function buildConsole(options: Run, signal: AbortSignal): Promise<string> {
  const folder = import('./web/console/ensure-built.ts').then(({ ensureBuilt }) =>
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
  const { listenFault } = await import('./api/listen-fault.ts')
  throw await listenFault(host, port)
}

/** The database, migrated, and Redis: the operator's where one is named, embedded otherwise. */
async function connectServices(options: Run, running: Running): Promise<{ databaseUrl: string; redisUrl: string }> {
  const { config, log } = options
  if (config.databaseUrl === undefined || config.redisUrl === undefined) {
    const names = [!config.databaseUrl && 'database', !config.redisUrl && 'Redis'].filter((name) => name !== false)
    say(options, `Starting the embedded ${names.join(' and ')} in ${config.dataDir}`)
    const { startEmbedded } = await import('./store/embedded.ts')
    running.embedded = await startEmbedded({
      dataDir: config.dataDir,
      log,
      postgres: config.databaseUrl === undefined,
      redis: config.redisUrl === undefined,
      searchPath: processEnvironment().PATH,
    })
  }
  const databaseUrl = config.databaseUrl ?? running.embedded?.databaseUrl ?? ''
  const redisUrl = config.redisUrl ?? running.embedded?.redisUrl ?? ''
  const [{ migrate }, { createRedis }] = await Promise.all([
    import('./store/migrate.ts'),
    import('./store/redis/client.ts'),
  ])
  const applied = await migrate(databaseUrl, log).catch((error) => unreachable('DATABASE_URL', 'PostgreSQL', error))
  if (applied.length > 0) say(options, `Updated the database: ${applied.join(', ')}`)
  const redis = await createRedis(redisUrl, log).catch((error) => unreachable('REDIS_URL', 'Redis', error))
  redis.destroy()
  return { databaseUrl, redisUrl }
}

function unreachable(variable: string, what: string, error: unknown): never {
  if (!(error instanceof PatchbayError && error.code === 'unavailable')) throw error
  const detail =
    error.cause instanceof Error ? error.cause.message || (error.cause as NodeJS.ErrnoException).code : error.cause
  const reason = `The ${what} of ${variable} can't be reached (${detail}); start it, correct ${variable}, or unset it and use npm start, which brings its own.`
  throw new PatchbayError('configuration', { params: { reason }, cause: error })
}

/** A voice worker's environment: without the addresses and secrets of the store, and without keys of plugins it doesn't run. */
function voiceEnvironment(plugins: PluginRegistry): NodeJS.ProcessEnv {
  const env: NodeJS.ProcessEnv = { ...processEnvironment() }
  for (const name of STORE_SETTINGS) delete env[name]
  const used = new Set(plugins.ambientGrants(['stt', 'llm', 'tts']).flatMap((grants) => [...grants.env]))
  for (const name of plugins.variables) if (!used.has(name)) delete env[name]
  return env
}

/** One child process per voice worker. */
async function startVoiceWorkers(options: Run, running: Running, plugins: PluginRegistry): Promise<void> {
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
        fork(import.meta.filename, ['voice', ...flags], {
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

/** Says that it is not ready, and goes on serving until balancers have noticed. */
async function leave({ config, selfContained }: Run, running: Running, forced: Promise<void>): Promise<void> {
  for (const role of running.roles) role.leave?.()
  const leaveMs = config.leaveMs ?? (selfContained ? 0 : LEAVE_MS)
  if (leaveMs > 0) await Promise.race([sleep(leaveMs), forced])
}

function stoppingWords({ roles }: Running, drainMs: number): string {
  const calls = roles.reduce((sum, role) => sum + (role.calls?.() ?? 0), 0)
  if (calls === 0) return 'Stopping'
  const minutes = drainMs < 60_000 ? `${Math.ceil(drainMs / 1_000)} s` : `${Math.round(drainMs / 60_000)} min`
  const who = calls === 1 ? 'a call is running and may' : `${calls} calls are running and may`
  return `Stopping: ${who} go on for ${minutes}; Ctrl-C again ends them now`
}

/** Sessions first, then the voice workers that serve them, then the services everybody uses. */
async function stopAll(running: Running, graceMs: number, closing: AbortController): Promise<void> {
  await Promise.all(running.roles.map((role) => withinMs(role.stop(graceMs), graceMs + STOP_MARGIN_MS, role.name)))
  await Promise.all(running.voiceWorkers.map((worker) => worker.stop(graceMs + STOP_MARGIN_MS)))
  closing.abort()
  await running.embedded?.stop(SERVICES_STOP_MS)
}

/** The operator does not want to wait: calls are cut, data are still written. */
async function endChildren(running: Running): Promise<void> {
  await Promise.all(running.voiceWorkers.map((worker) => worker.stop(0)))
  await running.embedded?.stop(FORCED_STOP_MS)
}

async function withinMs(stopping: Promise<void>, limitMs: number, name: string): Promise<void> {
  const timer = new AbortController()
  const late = sleep(limitMs, undefined, { signal: timer.signal }).then(
    () => log?.warn({ role: name, limitMs }, 'The role did not stop in time'),
    () => {},
  )
  const failed = stopping.catch((err: unknown) => log?.error({ err, role: name }, 'The role did not stop cleanly'))
  await Promise.race([failed, late])
  timer.abort()
}

/** Progress for the person who typed npm start; stdout carries the log alone. */
function say(options: Run, line: string): void {
  if (options.selfContained) process.stderr.write(`${line}\n`)
}

function announce(options: Run, running: Running, notices: readonly string[]): void {
  const { port, publicUrl, dataDir } = options.config
  const own = running.roles.find((role) => role.name === 'api')?.url?.replace('127.0.0.1', 'localhost')
  const url = port === 0 && own !== undefined ? own : publicUrl
  const demo = url === 'http://localhost:8080' ? 'npm run demo' : `npm run demo -- --url=${url}`
  const hints = [
    [url, 'the console: talk to an agent in the browser'],
    [demo, 'a simulated caller talks to an agent, live in the terminal'],
    [`${url}/docs`, 'the API, to read and to try'],
    ['Ctrl-C', `stops everything; data stay in ${dataDir}`],
  ] as const
  const width = Math.max(...hints.map(([what]) => what.length))
  const lines = hints.map(([what, does]) => `  ${what.padEnd(width)}   ${does}\n`)
  const signup = running.roles.find((role) => role.name === 'api')?.notice
  const told = notices.map((notice) => `\n${notice}\n`)
  const first = signup === undefined ? '' : `${signup}\n`
  say(options, `\nPatchbay listens on ${own ?? url}\n${first}\n${lines.join('')}${told.join('')}`)
}

function fail(sentence: string): never {
  process.stderr.write(`patchbay: ${sentence}\n`)
  process.exit(1)
}

try {
  await main(process.argv.slice(2))
  process.exit()
} catch (error) {
  if (error instanceof PatchbayError) fail(error.message)
  log?.fatal({ err: error }, 'Patchbay could not start')
  fail(error instanceof Error ? (error.stack ?? error.message) : String(error))
}
