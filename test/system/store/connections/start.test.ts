import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { writeFile } from 'node:fs/promises'
import { type AddressInfo, createServer } from 'node:net'
import { join } from 'node:path'
import t from 'tap'
import { createLogger } from '../../../../runtime/process/log.ts'
import { freePort } from '../../../../scripts/demo/free-port.ts'
import { waitForStore } from '../../../../store/connections/wait-for-store.ts'
import { migrate } from '../../../../store/database/migrate.ts'
import { checkRedis } from '../../../../store/redis/check.ts'
import { startPlainRedis } from '../../../support/instance/redis-pair.ts'
import { emptyDatabase, type Teardown, testFolder } from '../../../support/instance/services.ts'
import { startFaultProxy } from '../../../support/world/fault-proxy.ts'
import { waitUntil } from '../../../support/world/wait-until.ts'

function listener() {
  const lines: string[] = []
  const log = createLogger({ level: 'info', name: 'test', destination: { write: (line) => void lines.push(line) } })
  return { log, waits: () => lines.filter((line) => line.includes('Waiting for a store that is starting')) }
}

/** A PostgreSQL that says what one in recovery says, until `ready` leads on to a real one. */
async function startingPostgres(t: Teardown, socket: string) {
  const packet = (() => {
    const fields = Buffer.from('SFATAL\0VFATAL\0C57P03\0Mthe database system is starting up\0\0')
    const head = Buffer.alloc(5)
    head.write('E')
    head.writeInt32BE(fields.length + 4, 1)
    return Buffer.concat([head, fields])
  })()
  const server = createServer((client) => {
    client.on('error', () => {})
    client.once('data', () => client.end(packet))
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => server.close())
  const proxy = await startFaultProxy(t, { port: (server.address() as AddressInfo).port })
  return { port: proxy.port, ready: () => proxy.redirect({ path: socket }) }
}

t.test('a start waits for a database that is still starting, and says so once', async (t) => {
  const direct = new URL(await emptyDatabase(t))
  const starting = await startingPostgres(t, join(direct.searchParams.get('host') ?? '', '.s.PGSQL.5432'))
  const { log, waits } = listener()
  const url = `postgres://${direct.username}@127.0.0.1:${starting.port}${direct.pathname}`
  const migrated = waitForStore(log, () => migrate(url, createLogger({ level: 'silent', name: 'test' })))
  await waitUntil(() => waits().length > 0, undefined, { everyMs: 20 })
  setTimeout(starting.ready, 1_000)
  t.ok((await migrated).length > 20)
  t.equal(waits().length, 1)
  t.match(waits()[0], 'PostgreSQL is starting')
})

t.test('a start waits for a database that takes connections and does not answer yet', async (t) => {
  const direct = new URL(await emptyDatabase(t))
  const silent = createServer(() => {}).listen(0, '127.0.0.1')
  await once(silent, 'listening')
  t.teardown(() => silent.close())
  const proxy = await startFaultProxy(t, { port: (silent.address() as AddressInfo).port })
  const { log, waits } = listener()
  const url = `postgres://${direct.username}@127.0.0.1:${proxy.port}${direct.pathname}`
  const migrated = waitForStore(log, () => migrate(url, createLogger({ level: 'silent', name: 'test' })))
  await waitUntil(() => waits().length > 0, undefined, { everyMs: 20 })
  t.match(waits()[0], 'PostgreSQL does not answer')
  proxy.redirect({ path: join(direct.searchParams.get('host') ?? '', '.s.PGSQL.5432') })
  t.ok((await migrated).length > 20)
})

t.test('a start waits for a Redis that resets its first connections, and not for one that is not there', async (t) => {
  const redis = await startPlainRedis(t)
  const proxy = await startFaultProxy(t, { path: redis.socketPath })
  const { log, waits } = listener()
  proxy.cut()
  const checked = waitForStore(log, () => checkRedis(`redis://127.0.0.1:${proxy.port}`, log))
  setTimeout(() => void proxy.mend(), 1_500)
  await checked
  t.ok(waits().length <= 1)
  await t.rejects(
    waitForStore(log, () => checkRedis('redis://127.0.0.1:1', log)),
    { code: 'unavailable' },
  )
})

t.test('an address that leads to a Sentinel is refused with the cure', async (t) => {
  const { log } = listener()
  const port = await freePort()
  const folder = await testFolder(t)
  await writeFile(join(folder, 'sentinel.conf'), `port ${port}\nsentinel monitor main 127.0.0.1 1 1\n`)
  const child = spawn('redis-sentinel', [join(folder, 'sentinel.conf')], { stdio: 'ignore' })
  t.teardown(async () => {
    child.kill('SIGKILL')
    if (child.exitCode === null) await once(child, 'exit')
  })
  const url = `redis://127.0.0.1:${port}`
  const refusal = { code: 'configuration', message: /leads to a Redis Sentinel.*REDIS_SENTINELS=/ }
  let error: unknown
  await waitUntil(async () => {
    error = await checkRedis(url, log).catch((reason) => reason)
    return (error as { code?: string }).code === 'configuration'
  })
  t.match(error, refusal)
  await t.rejects(checkRedis(`redis+sentinel://127.0.0.1:${port}/main`, log), refusal)
})
