import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as sleep } from 'node:timers/promises'
import { Client } from 'pg'
import t from 'tap'
import { createLogger } from '../../../../runtime/process/log.ts'
import { type EmbeddedServices, startEmbedded } from '../../../../store/embedded/embedded.ts'
import { createRedis } from '../../../../store/redis/client.ts'
import { type Teardown, testFolder } from '../../../support/instance/services.ts'
import { waitUntil } from '../../../support/world/wait-until.ts'

const log = createLogger({ level: 'silent', name: 'test' })
const STOP_MS = 20_000

async function start(t: Teardown, dataDir: string, which = { postgres: true, redis: true }): Promise<EmbeddedServices> {
  const services = await startEmbedded({ dataDir, log, searchPath: process.env.PATH, ...which })
  t.teardown(() => services.stop(STOP_MS))
  return services
}

async function query(services: EmbeddedServices, sql: string): Promise<unknown[]> {
  const client = new Client({ connectionString: services.databaseUrl })
  client.on('error', () => {})
  await client.connect()
  try {
    return (await client.query(sql)).rows
  } finally {
    await client.end()
  }
}

async function redis<Result>(
  services: EmbeddedServices,
  use: (client: Awaited<ReturnType<typeof createRedis>>) => Promise<Result>,
): Promise<Result> {
  const client = await createRedis(services.redisUrl ?? '', log)
  try {
    return await use(client)
  } finally {
    client.destroy()
  }
}

function isAlive(pid: number | undefined): boolean {
  try {
    if (pid === undefined || !process.kill(pid, 0)) return false
    // One that ended is there until whoever is its parent by now has looked, which takes a busy machine a while.
    return process.platform !== 'linux' || !/\) [ZX] /.test(readFileSync(`/proc/${pid}/stat`, 'utf8'))
  } catch {
    return false
  }
}

async function until(condition: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await condition())) await sleep(20)
}

/** Another process that starts the services and then does nothing, to be killed. */
async function startElsewhere(t: Teardown, dataDir: string) {
  const script = `
    import { startEmbedded } from ${JSON.stringify(join(import.meta.dirname, '../../../../store/embedded/embedded.ts'))}
    import { createLogger } from ${JSON.stringify(join(import.meta.dirname, '../../../../runtime/process/log.ts'))}
    const log = createLogger({ level: 'silent', name: 'test' })
    const options = { dataDir: ${JSON.stringify(dataDir)}, log, postgres: true, redis: true, searchPath: process.env.PATH }
    const services = await startEmbedded(options)
    console.log(JSON.stringify({ ...services, pids: { postgres: services.pids.postgres, redis: services.pids.redis } }))
    setInterval(() => {}, 1000)`
  const child = spawn(process.execPath, ['--input-type=module-typescript', '-e', script], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  t.teardown(() => child.kill('SIGKILL'))
  const [line] = (await once(createInterface({ input: child.stdout }), 'line')) as [string]
  return { child, services: JSON.parse(line) as EmbeddedServices }
}

t.test('data survive kill -9 of the whole process, and its services do not outlive it', async (t) => {
  const dataDir = join(await testFolder(t), 'data')
  const { child, services } = await startElsewhere(t, dataDir)
  await query(services, 'create table kept (n integer); insert into kept values (42)')
  await redis(services, (client) => client.set('kept', 'yes'))
  child.kill('SIGKILL')
  await once(child, 'exit')

  const again = await start(t, dataDir)
  t.same(await query(again, 'select n from kept'), [{ n: 42 }])
  t.equal(await redis(again, (client) => client.get('kept')), 'yes')
  // They let go of the data a moment before they are gone.
  await waitUntil(() => !isAlive(services.pids.postgres) && !isAlive(services.pids.redis))
})

t.test('data survive kill -9 of everything at once', async (t) => {
  const dataDir = join(await testFolder(t), 'data')
  const { child, services } = await startElsewhere(t, dataDir)
  await query(services, 'create table kept (n integer); insert into kept values (42)')
  await redis(services, (client) => client.set('kept', 'yes'))
  for (const pid of [child.pid, services.pids.postgres, services.pids.redis]) process.kill(pid ?? 0, 'SIGKILL')

  const again = await start(t, dataDir)
  t.same(await query(again, 'select n from kept'), [{ n: 42 }])
  t.equal(await redis(again, (client) => client.get('kept')), 'yes')
})

t.test('a service that is killed runs again with its data', async (t) => {
  const services = await start(t, join(await testFolder(t), 'data'))
  await query(services, 'create table kept (n integer); insert into kept values (42)')
  await redis(services, (client) => client.set('kept', 'yes'))
  const { postgres, redis: redisPid } = services.pids
  process.kill(postgres ?? 0, 'SIGKILL')
  process.kill(redisPid ?? 0, 'SIGKILL')
  await until(() =>
    query(services, 'select n from kept').then(
      (rows) => rows.length === 1,
      () => false,
    ),
  )
  await until(() =>
    redis(services, (client) => client.get('kept')).then(
      (value) => value === 'yes',
      () => false,
    ),
  )
  t.not(services.pids.postgres, postgres)
  t.not(services.pids.redis, redisPid)
})

t.test('a second instance on the same data folder is told so and harms nothing', async (t) => {
  const dataDir = join(await testFolder(t), 'data')
  const services = await start(t, dataDir)
  await t.rejects(start(t, dataDir), {
    code: 'configuration',
    message: /already runs on the data folder ".*"; stop it/,
  })
  t.same(await query(services, 'select 1 as one'), [{ one: 1 }])
})

t.test('stopping frees the data folder and leaves no process and no socket', async (t) => {
  const dataDir = join(await testFolder(t), 'data')
  const services = await startEmbedded({ dataDir, log, searchPath: process.env.PATH, postgres: true, redis: true })
  const { postgres, redis: redisPid } = services.pids
  await services.stop(STOP_MS)
  t.notOk(isAlive(postgres))
  t.notOk(isAlive(redisPid))
  t.same(await readdir(join(dataDir, 'run')), [])
})

t.test('a database folder that was never finished is made anew', async (t) => {
  const dataDir = join(await testFolder(t), 'data')
  await mkdir(join(dataDir, 'postgres.making-1', 'base'), { recursive: true })
  const services = await start(t, dataDir, { postgres: true, redis: false })
  t.same(await query(services, 'select 1 as one'), [{ one: 1 }])
  t.notOk((await readdir(dataDir)).includes('postgres.making-1'))
})

t.test('a folder that holds no complete database is named and left as it is', async (t) => {
  const dataDir = join(await testFolder(t), 'data')
  await mkdir(join(dataDir, 'postgres'), { recursive: true })
  await writeFile(join(dataDir, 'postgres', 'precious'), 'data')
  const failure = start(t, dataDir, { postgres: true, redis: false })
  await t.rejects(failure, { code: 'configuration', message: /"\S+\/data\/postgres" is not a complete database/ })
  t.equal(await readFile(join(dataDir, 'postgres', 'precious'), 'utf8'), 'data')
})

t.test('a database of another major version is named', async (t) => {
  const dataDir = join(await testFolder(t), 'data')
  await mkdir(join(dataDir, 'postgres', 'global'), { recursive: true })
  await writeFile(join(dataDir, 'postgres', 'PG_VERSION'), '9\n')
  await writeFile(join(dataDir, 'postgres', 'global', 'pg_control'), '')
  await t.rejects(start(t, dataDir, { postgres: true, redis: false }), {
    message: /made by PostgreSQL 9 .* brings \d+/,
  })
})

t.test('a lock whose process number now belongs to another program is recovered', async (t) => {
  const dataDir = join(await testFolder(t), 'data')
  const { child, services } = await startElsewhere(t, dataDir)
  for (const pid of [child.pid, services.pids.postgres, services.pids.redis]) process.kill(pid ?? 0, 'SIGKILL')
  await until(() => !isAlive(services.pids.postgres))
  const stranger = spawn('sleep', ['900'])
  t.teardown(() => stranger.kill('SIGKILL'))
  const lockFile = join(dataDir, 'postgres', 'postmaster.pid')
  const lock = await readFile(lockFile, 'utf8')
  await writeFile(lockFile, lock.replace(/^\d+/, String(stranger.pid)))
  t.same(await query(await start(t, dataDir), 'select 1 as one'), [{ one: 1 }])
  t.ok(isAlive(stranger.pid))
})

t.test('a data folder with a path too long for sockets works', async (t) => {
  const dataDir = join(await testFolder(t), 'long'.repeat(30), 'data')
  const services = await start(t, dataDir)
  t.same(await query(services, 'select 1 as one'), [{ one: 1 }])
  t.equal(await redis(services, (client) => client.ping()), 'PONG')
})

t.test('a data folder that cannot be made is named with its cure', async (t) => {
  const folder = await testFolder(t)
  await writeFile(join(folder, 'file'), '')
  await t.rejects(start(t, join(folder, 'file', 'data')), {
    code: 'configuration',
    message: /The data folder ".*" can't be written \(ENOTDIR\); make it writable .* or set PATCHBAY_DATA_DIR/,
  })
})

t.test('text sorts and folds case by Unicode whatever the machine', async (t) => {
  const services = await start(t, join(await testFolder(t), 'data'), { postgres: true, redis: false })
  t.same(await query(services, `select lower('ÄÖÜ') as low`), [{ low: 'äöü' }])
})
