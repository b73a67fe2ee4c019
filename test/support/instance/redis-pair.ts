import { join } from 'node:path'
import { createClient } from '@redis/client'
import { createLogger } from '../../../runtime/process/log.ts'
import { findRedisProgram, startRedis } from '../../../store/embedded/redis.ts'
import { type FaultProxy, startFaultProxy } from '../world/fault-proxy.ts'
import { type Teardown, testFolder } from './services.ts'

const log = createLogger({ level: 'silent', name: 'test' })

/** A Redis behind a proxy, asked directly by `admin`. */
export interface ProxiedRedis {
  readonly socketPath: string
  /** Asks the server itself, past the proxy. */
  admin(...command: string[]): Promise<unknown>
}

/** Starts a Redis of its own, ended with the test. */
export async function startPlainRedis(t: Teardown): Promise<ProxiedRedis> {
  const socketPath = join(await testFolder(t), 'redis.sock')
  const searchPath = process.env.PATH
  const program = findRedisProgram(searchPath)
  const redis = await startRedis({ folder: undefined, socketPath, program, user: undefined, searchPath, log })
  t.teardown(() => redis.stop(5_000))
  const client = createClient({ socket: { path: socketPath, tls: false } })
  client.on('error', () => {})
  await client.connect()
  t.teardown(() => client.destroy())
  return { socketPath, admin: (...command) => client.sendCommand(command) }
}

/** A primary behind a proxy, and a replica that may take its place: the address leads to it then, and the old one lives on. */
export async function startRedisPair(t: Teardown) {
  const [first, second] = [await startPlainRedis(t), await startPlainRedis(t)]
  const proxy = await startFaultProxy(t, { path: first.socketPath })
  // Replicas know their primary by a port.
  const ports = [
    await startFaultProxy(t, { path: first.socketPath }),
    await startFaultProxy(t, { path: second.socketPath }),
  ]
  await follow(second, ports[0])
  return {
    url: `redis://127.0.0.1:${proxy.port}`,
    proxy,
    first,
    second,
    /** The second is the primary from now on; what is connected to the first stays there. */
    async failOver(): Promise<void> {
      await second.admin('REPLICAOF', 'NO', 'ONE')
      await follow(first, ports[1])
      proxy.redirect({ path: second.socketPath })
    },
  }
}

async function follow(replica: ProxiedRedis, primary: FaultProxy | undefined): Promise<void> {
  await replica.admin('REPLICAOF', '127.0.0.1', `${primary?.port}`)
  while (!/master_link_status:up/.test(`${await replica.admin('INFO', 'replication')}`)) {
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
}
