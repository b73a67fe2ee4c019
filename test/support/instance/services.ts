import { execFile, spawn } from 'node:child_process'
import { createHash, randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { accessSync, closeSync, constants, mkdirSync, openSync, readFileSync, statfsSync } from 'node:fs'
import { mkdtemp, rename, rm, stat } from 'node:fs/promises'
import { connect, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import { Client } from 'pg'
import { createLogger } from '../../../runtime/process/log.ts'
import { migrate } from '../../../store/database/migrate.ts'
import { startEmbedded } from '../../../store/embedded/embedded.ts'
import { adminUrl } from '../../../store/embedded/own-database.ts'
import { findRedisProgram, redisSocketUrl, startRedis } from '../../../store/embedded/redis.ts'
import { MIGRATIONS } from '../../../store/migrations/index.ts'

/** The part of tap's `t` that is needed here. */
export interface Teardown {
  teardown(callback: () => unknown): unknown
}

interface SharedServices {
  databaseUrl: string
  /** Removed with everything in it once the last test process is gone. */
  folder: string
}

const START_TIMEOUT_MS = 120_000
const STOP_MS = 5_000
/** Half a minute's. */
const MOST_LOOKS = 1_500
/** Linux keeps what lies there in memory: shm_overview(7). */
const MEMORY_FILES = '/dev/shm'
/** Beside the embedded instances that are under way at once. */
const ROOM_BYTES = 4 * 1024 ** 3
const MIGRATED = createHash('sha256').update(JSON.stringify(MIGRATIONS)).digest('hex').slice(0, 16)
const log = createLogger({ level: 'silent', name: 'test' })
let shared: Promise<SharedServices> | undefined
let template: Promise<string> | undefined
let dataTemplate: Promise<string> | undefined

/** The address of a fresh, migrated database, dropped when `t` ends. */
export async function testDatabase(t: Teardown): Promise<string> {
  template ??= makeTemplate()
  return copyDatabase(t, template)
}

/** The address of a fresh database without any table. */
export async function emptyDatabase(t: Teardown): Promise<string> {
  return copyDatabase(t, Promise.resolve('template0'))
}

/** The address of a Redis of one's own, ended when `t` ends. */
export async function testRedis(t: Teardown): Promise<string> {
  const socketPath = join(await testFolder(t), 'redis.sock')
  const program = findRedisProgram(process.env.PATH)
  const searchPath = process.env.PATH
  const redis = await startRedis({ folder: undefined, socketPath, program, user: undefined, searchPath, log })
  t.teardown(() => redis.stop(STOP_MS))
  return redisSocketUrl(socketPath)
}

/** A folder whose path is short enough for sockets, removed when `t` ends. */
export async function testFolder(t: Teardown): Promise<string> {
  const { folder } = await sharedServices()
  const path = await mkdtemp(join(folder, 't-'))
  // What was started in it may still put something there while it ends.
  t.teardown(() => rm(path, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 }))
  return path
}

/** A data folder as the first start of an instance leaves it, its database up to date; removed when `t` ends. */
export async function testDataDir(t: Teardown): Promise<string> {
  dataTemplate ??= makeDataTemplate()
  const dataDir = join(await testFolder(t), 'data')
  // Postgres wants its folder to be its user's.
  await promisify(execFile)('cp', ['-a', await dataTemplate, dataDir])
  return dataDir
}

async function copyDatabase(t: Teardown, source: Promise<string>): Promise<string> {
  const { databaseUrl } = await sharedServices()
  const name = `test_${randomBytes(8).toString('hex')}`
  const from = await source
  // Half of what it costs to write the same through the log.
  await asAdmin(databaseUrl, (admin) =>
    admin.query(`create database ${name} template ${from} owner ${roleOf(databaseUrl)} strategy file_copy`),
  )
  t.teardown(() => asAdmin(databaseUrl, (admin) => admin.query(`drop database if exists ${name} with (force)`)))
  return withDatabase(databaseUrl, name)
}

/** Made once for all processes; its name changes with the migrations. */
async function makeDataTemplate(): Promise<string> {
  const { databaseUrl, folder } = await sharedServices()
  const path = join(folder, `data-${MIGRATED}`)
  const making = `${path}.making`
  await asAdmin(databaseUrl, async (admin) => {
    await admin.query('select pg_advisory_lock(2)')
    if ((await stat(path).catch(() => undefined)) !== undefined) return
    await rm(making, { recursive: true, force: true })
    const searchPath = process.env.PATH
    const postgresSettings = { fsync: 'off', synchronous_commit: 'off' }
    const made = await startEmbedded({
      dataDir: making,
      log,
      searchPath,
      postgres: true,
      redis: false,
      postgresSettings,
    })
    try {
      await migrate(made.databaseUrl ?? '', log)
    } finally {
      await made.stop(STOP_MS)
    }
    await rename(making, path)
  })
  return path
}

/** Made once for all processes; its name changes with the migrations. */
async function makeTemplate(): Promise<string> {
  const { databaseUrl } = await sharedServices()
  const name = `template_${MIGRATED}`
  await asAdmin(databaseUrl, async (admin) => {
    await admin.query('select pg_advisory_lock(1)')
    const { rowCount } = await admin.query('select from pg_database where datname = $1', [name])
    if (rowCount !== 0) return
    await admin.query(`drop database if exists ${name}_making with (force)`)
    await admin.query(`create database ${name}_making template template0 owner ${roleOf(databaseUrl)}`)
    await migrate(withDatabase(databaseUrl, `${name}_making`), log)
    await retryWhileInUse(() => admin.query(`alter database ${name}_making rename to ${name}`))
  })
  return name
}

/** The server notices a closed connection a moment after its client. */
async function retryWhileInUse(action: () => Promise<unknown>): Promise<void> {
  for (let attempt = 0; ; attempt++) {
    try {
      await action()
      return
    } catch (error) {
      if ((error as { code?: string }).code !== '55006' || attempt === MOST_LOOKS) throw error
      await sleep(20)
    }
  }
}

async function asAdmin(databaseUrl: string, action: (admin: Client) => Promise<unknown>): Promise<void> {
  const runDir = new URL(databaseUrl).searchParams.get('host') ?? ''
  const admin = new Client({ connectionString: adminUrl(runDir) })
  await admin.connect()
  try {
    await action(admin)
  } finally {
    await admin.end()
  }
}

/** The role that the product connects as: it owns its databases and has no other rights. */
const roleOf = (databaseUrl: string): string => new URL(databaseUrl).username

function withDatabase(databaseUrl: string, name: string): string {
  const url = new URL(databaseUrl)
  url.pathname = `/${name}`
  return url.href
}

function sharedServices(): Promise<SharedServices> {
  shared ??= connectToKeeper()
  return shared
}

/** In memory where there is room: each test makes and removes a database of hundreds of files, which a disk's file system pays for. */
function servicesRoot(): string {
  try {
    accessSync(MEMORY_FILES, constants.W_OK)
    const { bavail, bsize } = statfsSync(MEMORY_FILES)
    return bavail * bsize > ROOM_BYTES ? MEMORY_FILES : tmpdir()
  } catch {
    return tmpdir()
  }
}

async function connectToKeeper(): Promise<SharedServices> {
  const checkout = createHash('sha256')
    .update(import.meta.dirname)
    .digest('hex')
    .slice(0, 8)
  const base = join(servicesRoot(), `patchbay-test-${process.getuid?.() ?? 0}-${checkout}`)
  const keeperLog = join(base, 'keeper.log')
  let starting = false
  for (const endMs = performance.now() + START_TIMEOUT_MS; performance.now() < endMs; ) {
    const socket = await tryConnect(join(base, 'control.sock'))
    const services = socket && (await readServices(socket))
    if (services !== undefined) return services
    // One keeper is enough, whoever started it: each is a process of its own, and a busy machine has none to spare.
    if (!starting && !(await isHeld(join(base, 'keeper.sock')))) {
      mkdirSync(base, { recursive: true, mode: 0o700 })
      const output = openSync(keeperLog, 'a')
      const keeper = spawn(process.execPath, [join(import.meta.dirname, 'services-keeper.ts'), base], {
        detached: true,
        env: { PATH: process.env.PATH },
        stdio: ['ignore', output, output],
      })
      closeSync(output)
      starting = true
      keeper.unref()
      keeper.once('exit', () => {
        starting = false
      })
    }
    await sleep(100)
  }
  throw new Error(`The test services did not start: ${readFileSync(keeperLog, 'utf8').slice(-2_000)}`)
}

async function tryConnect(path: string): Promise<Socket | undefined> {
  const socket = connect(path)
  try {
    await once(socket, 'connect')
    return socket
  } catch {
    return undefined
  }
}

/** Whether a living keeper holds the lock: its services are there or will be. */
async function isHeld(path: string): Promise<boolean> {
  const socket = await tryConnect(path)
  socket?.on('error', () => {}).destroy()
  return socket !== undefined
}

/** Keeps the connection open for the life of this process: that is what keeps the services alive. */
async function readServices(socket: Socket): Promise<SharedServices | undefined> {
  socket.on('error', () => {})
  const lines = createInterface({ input: socket })
  for await (const line of lines) {
    socket.unref()
    return JSON.parse(line) as SharedServices
  }
  return undefined
}
