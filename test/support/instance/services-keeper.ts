/**
 * Runs the one private PostgreSQL that all test processes share. It lives as long as somebody is connected to its
 * control socket and a little longer, so a crashed test leaves nothing behind: the kernel closes its connection.
 */
import { once } from 'node:events'
import { mkdir, readdir, rm, rmdir } from 'node:fs/promises'
import { createServer, type Socket } from 'node:net'
import { join } from 'node:path'
import { createLogger } from '../../../runtime/process/log.ts'
import { startEmbedded } from '../../../store/embedded/embedded.ts'
import { takeInstanceLock } from '../../../store/embedded/instance-lock.ts'

const LINGER_MS = 5_000
const STOP_MS = 10_000
const base = process.argv[2] ?? ''

const lock = await takeInstanceLock(join(base, 'keeper.sock'))
if (lock === undefined) process.exit(0)

for (const name of await readdir(base)) {
  if (name.startsWith('data-')) await rm(join(base, name), { recursive: true, force: true })
}
const folder = join(base, `data-${process.pid}`)
await mkdir(join(folder, 'files'), { recursive: true })
const services = await startEmbedded({
  dataDir: folder,
  log: createLogger({ level: 'warn', name: 'test-services' }),
  postgres: true,
  redis: false,
  searchPath: process.env.PATH,
  postgresSettings: { fsync: 'off', synchronous_commit: 'off', full_page_writes: 'off', max_connections: '300' },
})

const clients = new Set<Socket>()
let linger = setTimeout(stop, LINGER_MS)
const controlPath = join(base, 'control.sock')
await rm(controlPath, { force: true })
const server = createServer((socket) => {
  clearTimeout(linger)
  clients.add(socket)
  socket.on('error', () => {})
  socket.on('close', () => {
    clients.delete(socket)
    clearTimeout(linger)
    if (clients.size === 0) linger = setTimeout(stop, LINGER_MS)
  })
  socket.resume()
  socket.write(`${JSON.stringify({ databaseUrl: services.databaseUrl, folder: join(folder, 'files') })}\n`)
})
server.listen(controlPath)
await once(server, 'listening')
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, stop)

async function stop(): Promise<void> {
  clearTimeout(linger)
  server.close()
  for (const client of clients) client.destroy()
  await services.stop(STOP_MS)
  for (const path of [folder, controlPath, join(base, 'keeper.log')]) await rm(path, { recursive: true, force: true })
  await lock?.release()
  // Not empty: the next keeper is there already.
  await rmdir(base).catch(() => {})
  process.exit(0)
}
