import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { chown, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import pg from 'pg'
import t, { type Test } from 'tap'
import { createLogger } from '../../../../runtime/process/log.ts'
import { freePort } from '../../../../scripts/demo/free-port.ts'
import { openStore } from '../../../../store/database/database.ts'
import { migrate } from '../../../../store/database/migrate.ts'
import { startEmbedded } from '../../../../store/embedded/embedded.ts'
import { adminUrl } from '../../../../store/embedded/own-database.ts'
import { checkRedis } from '../../../../store/redis/check.ts'
import { createRedis } from '../../../../store/redis/client.ts'
import { openQueue, runJobs } from '../../../../workers/queues.ts'
import { testFolder } from '../../../support/instance/services.ts'
import { type Authority, makeAuthority } from '../../../support/sip/certificates.ts'
import { waitUntil } from '../../../support/world/wait-until.ts'

const log = createLogger({ level: 'silent', name: 'test' })
/** Both speak TLS to operators' own authorities: a stranger's vouches for nothing. */
const STRANGER = 'stranger.pem'

/** Files of an authority and a stranger's, and a server's certificate for the address, which may be issued again. */
async function makeFiles(t: Test, address: string) {
  const folder = await testFolder(t)
  const files = {
    ca: join(folder, 'ca.pem'),
    stranger: join(folder, STRANGER),
    cert: join(folder, 'cert.pem'),
    key: join(folder, 'key.pem'),
  }
  const authority: Authority = makeAuthority()
  const issue = async (owner?: { uid: number; gid: number }): Promise<void> => {
    const { key, cert } = authority.issue([address])
    await writeFile(files.cert, cert)
    await writeFile(files.key, key, { mode: 0o600 })
    if (owner !== undefined && process.getuid?.() === 0) {
      await Promise.all([files.cert, files.key].map((file) => chown(file, owner.uid, owner.gid)))
    }
  }
  await Promise.all([writeFile(files.ca, authority.cert), writeFile(files.stranger, makeAuthority('Stranger').cert)])
  return { folder, files, issue }
}

t.test('Redis: commands, jobs and users of an access list go over TLS of an authority of the operator', async (t) => {
  const { folder, files, issue } = await makeFiles(t, '127.0.0.1')
  await issue()
  const port = await freePort()
  const settings = [
    ...['bind 127.0.0.1', 'port 0', `tls-port ${port}`, 'tls-auth-clients no', 'save ""', `dir ${folder}`],
    ...[`tls-cert-file ${files.cert}`, `tls-key-file ${files.key}`, `tls-ca-cert-file ${files.ca}`],
    ...['user patchbay on >first ~* &* +@all', 'user default off'],
  ]
  const file = join(folder, 'redis.conf')
  await writeFile(file, `${settings.join('\n')}\n`)
  const child = spawn('redis-server', [file], { stdio: 'ignore' })
  t.teardown(async () => {
    child.kill('SIGKILL')
    if (child.exitCode === null && child.signalCode === null) await once(child, 'exit')
  })
  const passwordFile = join(folder, 'password')
  await writeFile(passwordFile, 'first\n')
  const url = `rediss://patchbay@127.0.0.1:${port}/0?cafile=${files.ca}&passwordfile=${passwordFile}`
  await waitUntil(() =>
    checkRedis(url, log).then(
      () => true,
      () => false,
    ),
  )
  const client = await createRedis(url, log)
  t.teardown(() => client.destroy())
  t.equal(await client.aclWhoAmI(), 'patchbay')
  const done: string[] = []
  const options = { concurrency: 1, onError: () => {}, onPoison: () => {} }
  const runner = runJobs('documents', client, options, async ({ payload }) => void done.push(payload.documentId))
  t.teardown(() => runner.stop(0))
  const queue = openQueue('documents', client)
  t.teardown(() => queue.close())
  await queue.add({ documentId: 'one' }, { jobId: 'one', attempts: 1, backoffMs: 100 })
  await waitUntil(() => done.includes('one'))

  // Certificate and password are rotated; what dials from then on has the new ones.
  await issue()
  await client.configSet({ 'tls-cert-file': files.cert, 'tls-key-file': files.key })
  await client.sendCommand(['ACL', 'SETUSER', 'patchbay', 'resetpass', '>second'])
  await writeFile(passwordFile, 'second\n')
  await client.sendCommand(['CLIENT', 'KILL', 'TYPE', 'normal', 'SKIPME', 'yes']).catch(() => {})
  const later = await createRedis(url, log)
  t.teardown(() => later.destroy())
  t.equal(await later.set('k', 'v'), 'OK')
  await queue.add({ documentId: 'two' }, { jobId: 'two', attempts: 5, backoffMs: 100 })
  await waitUntil(() => done.includes('two'))

  for (const [why, address] of [
    ['an authority that did not issue it', url.replace(files.ca, files.stranger)],
    ['the authorities of the system', `rediss://patchbay@127.0.0.1:${port}/0?passwordfile=${passwordFile}`],
    ['no TLS', `redis://patchbay@127.0.0.1:${port}/0?passwordfile=${passwordFile}`],
  ] as const) {
    await t.rejects(createRedis(address, log), { code: 'unavailable' }, why)
  }
})

t.test('PostgreSQL: the pool and migrations go over TLS of an authority of the operator', async (t) => {
  // An address of loopback of its own, as the port stays.
  const address = `127.${64 + (process.pid % 64)}.${Math.floor(Math.random() * 250)}.${1 + Math.floor(Math.random() * 250)}`
  const { files, issue } = await makeFiles(t, address)
  const dataDir = join(await testFolder(t), 'data')
  const embedded = await startEmbedded({
    ...{ dataDir, log, postgres: true, redis: false, searchPath: process.env.PATH },
    postgresSettings: { fsync: 'off', listen_addresses: address },
  })
  t.teardown(() => embedded.stop(5_000))
  const local = embedded.databaseUrl ?? ''
  const owner = await stat(join(dataDir, 'postgres'))
  await issue(owner)
  const admin = new pg.Client({ connectionString: adminUrl(new URL(local).searchParams.get('host') ?? '') })
  await admin.connect()
  t.teardown(() => admin.end())
  await admin.query(`alter system set ssl_cert_file = '${files.cert}'`)
  await admin.query(`alter system set ssl_key_file = '${files.key}'`)
  await admin.query('alter system set ssl = on')
  await admin.query('select pg_reload_conf()')
  const { username, pathname } = new URL(local)
  const over = (ca: string): string =>
    `postgres://${username}@${address}:5432${pathname}?sslmode=verify-full&sslrootcert=${ca}`
  const faultOf = async (url: string): Promise<string | undefined> => {
    const store = openStore({ databaseUrl: url, maxConnections: 1 })
    try {
      return await store.fault()
    } finally {
      await store.close()
    }
  }
  await waitUntil(async () => (await faultOf(over(files.ca))) === undefined)
  t.ok((await migrate(over(files.ca), log)).length > 20)
  const store = openStore({ databaseUrl: over(files.ca), maxConnections: 2 })
  t.teardown(() => store.close())
  const encrypted = 'select ssl from pg_stat_ssl where pid = pg_backend_pid()'
  t.same((await store.pool.query(encrypted)).rows, [{ ssl: true }])
  await issue(owner)
  await admin.query('select pg_reload_conf()')
  await admin.query(
    'select pg_terminate_backend(pid) from pg_stat_activity where pid <> pg_backend_pid() and client_addr is not null',
  )
  await waitUntil(() =>
    store.pool.query(encrypted).then(
      ({ rows }) => rows[0]?.ssl === true,
      () => false,
    ),
  )
  t.match(await faultOf(over(files.stranger)), /certificate/)
})
