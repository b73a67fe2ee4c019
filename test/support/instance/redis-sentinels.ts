import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { createClient } from '@redis/client'
import { freePort } from '../../../scripts/demo/free-port.ts'
import { type Teardown, testFolder } from './services.ts'

/** Why a test that needs them is left out; false where they are there. */
export const sentinelMissing =
  spawnSync('redis-sentinel', ['--version']).status === 0
    ? (false as const)
    : 'needs redis-sentinel: apt-get install redis-sentinel'

const NAME = 'main-Redis'

interface Node {
  readonly port: number
  readonly child: ChildProcess
}

interface Tls {
  readonly cert: string
  readonly key: string
  readonly ca: string
}

interface SentinelOptions {
  /** Files, where all of them speak TLS. */
  tls?: Tls
  sentinels?: number
}

/** Data nodes with the password `data` and Sentinels with the password `watch`, of Debian. Ended with the test. */
export async function startSentinels(t: Teardown, { tls, sentinels = 3 }: SentinelOptions = {}) {
  const folder = await testFolder(t)
  const programs = new Set<ChildProcess>()
  t.teardown(async () => {
    for (const child of programs) {
      if (child.exitCode !== null || child.signalCode !== null) continue
      child.kill('SIGKILL')
      await once(child, 'exit')
    }
  })
  const listening = (port: number): string[] =>
    tls === undefined
      ? [`port ${port}`]
      : [
          'port 0',
          `tls-port ${port}`,
          `tls-cert-file ${tls.cert}`,
          `tls-key-file ${tls.key}`,
          `tls-ca-cert-file ${tls.ca}`,
          'tls-auth-clients no',
          'tls-replication yes',
        ]
  const start = async (program: string, settings: readonly string[]): Promise<Node> => {
    const port = await freePort()
    const own = join(folder, `${port}`)
    await mkdir(own)
    const file = join(own, 'redis.conf')
    await writeFile(file, `${['bind 127.0.0.1', ...listening(port), `dir ${own}`, ...settings].join('\n')}\n`)
    const child = spawn(program, [file], { stdio: 'ignore' })
    programs.add(child)
    return { port, child }
  }
  const data = ['save ""', 'requirepass data', 'masterauth data', 'repl-diskless-sync-delay 0']
  const first = await start('redis-server', data)
  const second = await start('redis-server', [...data, `replicaof 127.0.0.1 ${first.port}`])
  const watchers: Node[] = []
  while (watchers.length < sentinels) {
    watchers.push(
      await start('redis-sentinel', [
        'requirepass watch',
        `sentinel monitor ${NAME} 127.0.0.1 ${first.port} ${sentinels > 1 ? 2 : 1}`,
        `sentinel auth-pass ${NAME} data`,
        'sentinel sentinel-pass watch',
        `sentinel down-after-milliseconds ${NAME} 1000`,
        `sentinel failover-timeout ${NAME} 5000`,
      ]),
    )
  }
  const scheme = tls === undefined ? 'redis' : 'rediss'
  const more = tls === undefined ? '' : `?cafile=${tls.ca}`
  const ask = async (node: Node, password: string, ...command: string[]): Promise<unknown> => {
    const client = createClient({
      url: `${scheme}://:${password}@127.0.0.1:${node.port}`,
      socket: { reconnectStrategy: false, ...(tls && { tls: true, rejectUnauthorized: false }) },
    })
    client.on('error', () => {})
    try {
      await client.connect()
      return await client.sendCommand(command)
    } finally {
      client.destroy()
    }
  }
  const state = async (watcher: Node): Promise<Record<string, string | undefined>> =>
    ask(watcher, 'watch', 'SENTINEL', 'MASTER', NAME).then(
      (answer) => answer as Record<string, string | undefined>,
      () => ({}),
    )
  // Without knowing each other and the replica they could not fail over.
  for (const watcher of watchers) {
    let seen = await state(watcher)
    while (seen['num-slaves'] !== '1' || seen['num-other-sentinels'] !== `${sentinels - 1}`) {
      await sleep(100)
      seen = await state(watcher)
    }
  }
  /** The data node that the Sentinels take for the primary. */
  const primary = async (): Promise<Node | undefined> => {
    for (const watcher of watchers) {
      const { port } = await state(watcher)
      if (port !== undefined) return nodes[Number(port)]
    }
    return undefined
  }
  const nodes = { [first.port]: first, [second.port]: second }
  return {
    name: NAME,
    redisUrl: `${scheme}://:data@${NAME}/0${more}`,
    sentinels: watchers.map(({ port }) => `${scheme}://:watch@127.0.0.1:${port}${more}`),
    first,
    second,
    /** Asks a data node itself. */
    admin: (node: Node, ...command: string[]) => ask(node, 'data', ...command),
    primary,
    /** Has the Sentinels promote the replica; the old primary lives on. */
    async failOver(): Promise<void> {
      const [watcher] = watchers
      if (watcher === undefined) throw new Error('There is no Sentinel')
      const isBegun = () => ask(watcher, 'watch', 'SENTINEL', 'FAILOVER', NAME).then(Boolean, () => false)
      // A replica that was connected just now is not yet good enough.
      while (!(await isBegun())) await sleep(200)
      while ((await primary()) !== second) await sleep(50)
    },
  }
}
