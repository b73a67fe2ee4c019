import { resolve } from 'node:path'
import { describeConfig } from '../config/describe.ts'
import { deriveConfig, effectiveConfig, type RoleName } from '../config/effective.ts'
import { type Environment, loadConfig, processEnvironment, useEnvFile } from '../config/load.ts'
import { operationsAddress } from '../config/operations-address.ts'
import type { Config, EffectiveConfig } from '../config/schema.ts'
import { serviceLinksOf } from '../config/service-links.ts'
import { systemClock } from '../runtime/lib/clock.ts'
import { PatchbayError } from '../runtime/lib/errors.ts'
import { nearest } from '../runtime/lib/nearest.ts'
import { buildInfo } from '../runtime/process/build-info.ts'
import { watchStopRequests } from '../runtime/process/lifecycle.ts'
import { createLogger, type Logger } from '../runtime/process/log.ts'
import { FILES_COMMANDS, FILES_USAGE, type FilesCommand } from './agent-files/files-usage.ts'
import { TESTS_USAGE } from './agent-tests/tests-usage.ts'
import { VERSIONS_COMMANDS, VERSIONS_USAGE, type VersionsCommand } from './agent-versions/versions-usage.ts'
import { hangsUp, openReloads } from './open-reloads.ts'
import { run } from './run.ts'
import type { Running } from './running.ts'
import { borrowing, primaryUrl, withDatabase } from './services.ts'

const USAGE = `Usage: patchbay <command> [--allow-net=plugin:host:port,…] [--allow-env=…] [--allow-run=…]
                          [--allow-read=…] [--allow-listen=…]

  start     everything on this machine: database, Redis, api, jobs and voice workers
  api       an api node                (DATABASE_URL, REDIS_URL)
  jobs      a job worker               (DATABASE_URL, REDIS_URL)
  voice     a voice worker             (PATCHBAY_API_URLS)
  backup    copies database, files and secrets into one file, also while it runs: backup <file.tar.gz>,
            or into a folder, where it keeps the newest; --verify restores it to compare
  verify    restores such a file into a scratch database and compares: verify <file.tar.gz>
  restore   fills an empty installation from such a file: restore <file.tar.gz>
  move      copies the data into another PostgreSQL: move --to=postgres://…
  migrate   brings the database up to date, and ends; --plan says what that locks, and for how long
  data-key  under which keys secrets in the database are sealed: data-key status
  config    the effective configuration, secrets masked
  doctor    asks every provider that has its key whether it serves, and how fast;
            doctor sip, doctor webrtc: looks at the SIP trunks of the running api node, at
            its media worker, port and addresses; doctor sip --call=NUMBER [--trunk=NAME]: calls
            a phone over a trunk and explains the call; doctor audio: whether its audio goes
            before the machine's other work; doctor database: whether its indexes are there
  rules     when the law lets campaigns call: rules [number] [instant]
  reload    has the running api node (reload jobs, reload voice: that role) on this machine read
            .env, prices and calling rules anew: reload [role] [--port=9080]
  drain     tells the running api node (drain jobs, drain voice: that role) on this machine to
            stop once its calls are over, and waits for it: drain [role] [--port=9080]
  plugins   the plugins, what they offer, ask for and are granted;
            plugins search, add, update, rollback, remove, test, new: third-party plugins (plugins help)
  models    models that hear and speak on this machine, without a key: models engine, pull, remove
  admin     users, signup, maintenance, the audit log, and what is stuck (calls, batches, queues,
            deliveries, seats, leases), from the shell: patchbay admin help
  pull      writes the agents and campaigns of a running Patchbay as files;
            plan, apply: what the files would change there, and the change (plan --help)
  import    makes such files of an export of another product: import vapi|retell|elevenlabs <file>
  test      runs tests of agents on a running Patchbay: test --help
  publish   makes the draft of an agent of a running Patchbay live, behind its tests: publish --help
  rollout   gives versions of an agent to a part of its calls, under a guard: rollout --help
  version   which Patchbay this is
  help      this text

Several roles may be named: patchbay api jobs.
`
const ROLES = ['api', 'jobs', 'voice'] as const satisfies readonly RoleName[]
const COMMANDS = [
  'start',
  ...ROLES,
  'backup',
  'verify',
  'restore',
  'move',
  'migrate',
  'data-key',
  'config',
  'doctor',
  'plugins',
  'models',
  'rules',
  'admin',
  'drain',
  'reload',
  ...FILES_COMMANDS,
  'import',
  'test',
  ...VERSIONS_COMMANDS,
  'version',
  'help',
]

/** Their further words are no commands. */
const TAKES_WORDS = [
  'doctor',
  'plugins',
  'models',
  'rules',
  'admin',
  'drain',
  'reload',
  'backup',
  'verify',
  'restore',
  'data-key',
]

let log: Logger | undefined

/** Does what the words after `patchbay` ask for and ends the process: 0 when it was done. */
export async function runCommandLine(argv: readonly string[]): Promise<never> {
  try {
    await perform(argv)
    process.exit()
  } catch (error) {
    if (error instanceof PatchbayError) fail(error.message)
    log?.fatal({ err: error }, 'Patchbay could not start')
    fail(error instanceof Error ? (error.stack ?? error.message) : String(error))
  }
}

async function perform(argv: readonly string[]): Promise<void> {
  const flags = argv.filter(
    (argument) =>
      argument.startsWith('-') &&
      ![
        '--help',
        '-h',
        '--version',
        '--grant=all',
        '--grant=needed',
        '--replace',
        '--no-test',
        '--verify',
        '--plan',
      ].includes(argument) &&
      !/^--(port|to)=/.test(argument),
  )
  const words = argv.filter((argument) => !argument.startsWith('-'))
  if (words[0] === 'plugins' && words[1] === 'dev') {
    if (words[2] === undefined) fail('Usage: npm run patchbay plugins dev <folder>')
    // Everything on this machine, with the plugin that is being written.
    flags.push(`--dev-plugin=${resolve(process.env.INIT_CWD ?? '', words[2])}`)
    words.splice(0, words.length, 'start')
  }
  const [command = argv.includes('--version') ? 'version' : 'help'] = words
  const isFiles = FILES_COMMANDS.find((one) => one === command)
  if (isFiles !== undefined) return files(isFiles, words.slice(1), argv)
  if (command === 'import') {
    const { runImport } = await import('./agent-imports/run-import.ts')
    process.stdout.write(
      `${await runImport(words.slice(1), { resolve: ofUser, defaults: argv.includes('--defaults') })}\n`,
    )
    return
  }
  if (command === 'test') return tests(argv)
  const ofVersions = VERSIONS_COMMANDS.find((one) => one === command)
  if (ofVersions !== undefined) return versions(ofVersions, argv)
  const unknown = words.find((word, at) => !COMMANDS.includes(word) && !(TAKES_WORDS.includes(command) && at > 0))
  if (unknown !== undefined) {
    const near = nearest(unknown, COMMANDS)
    fail(`"${unknown}" is not a command${near ? `, did you mean "${near}"?` : ''} See: npm run patchbay help`)
  }
  if (command === 'help' || argv.includes('--help') || argv.includes('-h')) {
    process.stdout.write(USAGE)
    return
  }
  if (command === 'version' || argv.includes('--version')) {
    const { version, commit } = buildInfo()
    process.stdout.write(`Patchbay ${version} (commit ${commit}, Node ${process.versions.node})\n`)
    return
  }
  const envFile = useEnvFile()
  const config = loadConfig(processEnvironment(), flags, envFile)
  if (command === 'config') {
    process.stdout.write(`${describeConfig(deriveConfig(config))}\n`)
  } else if (command === 'plugins' && words.length > 1) {
    const { PLUGINS_USAGE, runPluginsCommand } = await import('../runtime/plugin/install/cli.ts')
    const grant = argv.includes('--grant=all') ? 'all' : argv.includes('--grant=needed') ? 'needed' : undefined
    const has = (flag: string): boolean => argv.includes(flag)
    const asked = {
      grant,
      noTest: has('--no-test'),
      replace: has('--replace'),
      all: has('--all'),
      force: has('--force'),
    } as const
    const usersOf = async (name: string) => (await import('./plugin-users.ts')).pluginUsers(config, name)
    const say = writeLine
    const env = processEnvironment()
    const text =
      words[1] === 'help'
        ? PLUGINS_USAGE.trimEnd()
        : await runPluginsCommand({ words: words.slice(1), flags: asked, config, env, say, usersOf })
    process.stdout.write(`${text}\n`)
  } else if (command === 'plugins') {
    const { describePlugins } = await import('../runtime/plugin/describe.ts')
    process.stdout.write(`${await describePlugins(config, { env: processEnvironment() })}\n`)
  } else if (command === 'models') {
    const { runModelsCommand } = await import('../runtime/models/cli.ts')
    const stop = new AbortController()
    process.once('SIGINT', () => stop.abort())
    const terminal = process.stderr.isTTY === true
    const say = (text: string): void => {
      process.stderr.write(text)
    }
    const { dataDir, modelHub: hub } = config
    const text = await runModelsCommand({ words: words.slice(1), dataDir, hub, say, terminal, signal: stop.signal })
    process.stdout.write(`${text}\n`)
  } else if (command === 'backup' || command === 'verify' || command === 'restore' || command === 'move') {
    const commands = await import('../store/backup/command.ts')
    const log = createLogger({ level: 'warn', name: command })
    const { databaseUrl, dataDir, backupKeep: keep } = config
    const searchPath = processEnvironment().PATH
    const options = { databaseUrl, dataDir, searchPath, log, say: writeLine, keep, verify: argv.includes('--verify') }
    const to = argv.find((argument) => argument.startsWith('--to='))?.slice('--to='.length)
    const [, subject = command === 'move' ? to : command === 'backup' ? config.backupDir : undefined, ...more] = words
    if (subject === undefined || more.length > 0) {
      fail(
        `Usage: npm run patchbay ${command} ${command === 'move' ? '-- --to=postgres://user:password@host/database' : '<file.tar.gz>'}`,
      )
    }
    process.stdout.write(`${await commands[command](subject, options)}\n`)
  } else if (command === 'migrate' && argv.includes('--plan')) {
    const [{ describePlan }, quiet] = [
      await import('../store/database/migrate.ts'),
      createLogger({ level: 'warn', name: 'migrate' }),
    ]
    const text = await borrowing(config, 'migrate', (databaseUrl) => describePlan(databaseUrl, quiet))
    process.stdout.write(`${text}\n`)
  } else if (command === 'migrate') {
    const text = await withDatabase(config, 'migrate', async (_, applied) => {
      return applied.length === 0 ? 'The database is up to date' : `Updated the database: ${applied.join(', ')}`
    })
    process.stdout.write(`${text}\n`)
  } else if (command === 'data-key') {
    if (words[1] !== 'status' || words.length > 2) fail('Usage: npm run patchbay data-key status')
    const { runDataKeyStatus } = await import('./data-key.ts')
    const effective = await effectiveConfig(config, {
      roles: ['jobs'],
      selfContained: config.databaseUrl === undefined,
    })
    process.stdout.write(`${await withDatabase(config, 'data-key', (url) => runDataKeyStatus(url, effective))}\n`)
  } else if (command === 'admin') {
    await admin(words.slice(1), config)
  } else if (command === 'rules') {
    const { describeRules } = await import('../runtime/dialing/describe-rules.ts')
    process.stdout.write(`${await describeRules(words.slice(1), config.callingRules, systemClock.nowMs())}\n`)
  } else if (command === 'drain' || command === 'reload') {
    const { runDrain, runReload } = await import('../runtime/process/metrics/ask-role.ts')
    const [role = 'api', ...more] = words.slice(1)
    if (!isRole(role) || more.length > 0) fail(`Say which role: npm run patchbay ${command} [api|jobs|voice]`)
    const port = argv.find((argument) => argument.startsWith('--port='))?.slice('--port='.length)
    const asked = Number(port ?? operationsAddress(deriveConfig(config), role).port)
    await (command === 'drain' ? runDrain : runReload)(asked, writeLine)
  } else if (command === 'doctor') {
    const flag = (name: string) => argv.find((one) => one.startsWith(`--${name}=`))?.slice(name.length + 3)
    const [call, trunk, env] = [flag('call'), flag('trunk'), processEnvironment()]
    if (call !== undefined && words[1] !== 'sip')
      fail('Usage: npm run patchbay doctor sip -- --call=NUMBER [--trunk=NAME]')
    const { text, healthy } =
      call === undefined
        ? await (await import('./doctor.ts')).runDoctor(words.slice(1), { config, env })
        : await (await import('./trunk-test-call.ts')).testCallOverTrunk({ call, trunk }, env)
    process.stdout.write(`${text}\n`)
    process.exitCode = healthy ? 0 : 1
  } else {
    const stop = watchStopRequests(() => log, hangsUp())
    const selfContained = command === 'start'
    const roles = selfContained ? ROLES : ROLES.filter((role) => words.includes(role))
    let { logLevel } = config
    log = createLogger({ level: () => logLevel, name: selfContained ? 'patchbay' : roles.join('+') })
    const links = serviceLinksOf(process.env)
    if (links.length > 0) {
      log.warn({ variables: links }, 'Variables that Kubernetes sets for Services are no settings and were passed over')
    }
    const effective = await effectiveConfig(config, { roles, selfContained })
    const applied = (next: EffectiveConfig): void => {
      logLevel = next.logLevel
    }
    const reloading = openReloads({ flags, read: config, config: effective, log, applied })
    await run({ roles, selfContained, flags, stop, log, envFile, config: effective, reloading })
  }
}

function writeLine(line: string): void {
  process.stderr.write(`${line}\n`)
}

/** Works on an instance elsewhere: nothing of this machine's configuration is read but its environment. */
async function elsewhere(
  argv: readonly string[],
  usage: string,
  run: (env: Environment) => Promise<{ text: string; code: number }>,
): Promise<void> {
  if (argv.includes('--help') || argv.includes('-h')) {
    process.stdout.write(usage)
    return
  }
  useEnvFile()
  const { text, code } = await run(processEnvironment())
  if (text !== '') process.stdout.write(`${text.trimEnd()}\n`)
  process.exitCode = code
}

function files(command: FilesCommand, [place = '.', ...more]: readonly string[], argv: readonly string[]) {
  return elsewhere(argv, FILES_USAGE, async (env) => {
    if (more.length > 0) fail(`${command} takes one folder`)
    const { runFilesCommand } = await import('./agent-files/files-command.ts')
    const flags = argv.filter((argument) => argument.startsWith('-'))
    return runFilesCommand(command, { folder: ofUser(place), flags, env })
  })
}

/** A path as the user means it, wherever npm has gone. */
const ofUser = (path: string): string => resolve(process.env.INIT_CWD ?? '', path)

function tests(argv: readonly string[]) {
  return elsewhere(argv, TESTS_USAGE, async (env) => {
    const { runTestsCommand } = await import('./agent-tests/tests-command.ts')
    const stop = new AbortController()
    process.once('SIGINT', () => stop.abort())
    const own = argv.slice(argv.indexOf('test') + 1)
    return runTestsCommand({ argv: own, cwd: ofUser('.'), env, say: writeLine, signal: stop.signal })
  })
}

function versions(command: VersionsCommand, argv: readonly string[]) {
  return elsewhere(argv, VERSIONS_USAGE[command], async (env) => {
    const { runVersionsCommand } = await import('./agent-versions/versions-command.ts')
    return runVersionsCommand(command, { argv: argv.slice(argv.indexOf(command) + 1), env })
  })
}

function isRole(word: string): word is RoleName {
  return ROLES.some((role) => role === word)
}

async function admin(words: readonly string[], config: Config): Promise<void> {
  const { runAdmin } = await import('../api/operator/command.ts')
  const isHelp = words.length === 0 || words[0] === 'help'
  const followed: Pick<Running, 'followedPrimary'> = {}
  const text = isHelp
    ? await runAdmin(words, { config, databaseUrl: '' })
    : await withDatabase(config, 'admin', async (databaseUrl, _, ownRedisUrl) => {
        const log = createLogger({ level: 'error', name: 'admin' })
        const redisUrl = (await primaryUrl({ config, log }, followed)) ?? ownRedisUrl
        return runAdmin(words, { config, databaseUrl, redisUrl })
      })
  followed.followedPrimary?.close()
  process.stdout.write(`${text.trimEnd()}\n`)
}

function fail(sentence: string): never {
  process.stderr.write(`patchbay: ${sentence}\n`)
  process.exit(1)
}
