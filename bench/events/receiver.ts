import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

/** A receiver of webhooks in a process of its own: counts, notes how old each event is, and tells its parent when asked. */

const agesMs: number[] = []
const ids = new Set<string>()

const server = createServer((request, response) => {
  const parts: Buffer[] = []
  request.on('data', (part) => parts.push(part))
  request.on('end', () => {
    const { id, created_at } = JSON.parse(Buffer.concat(parts).toString()) as { id: string; created_at: string }
    if (!ids.has(id)) agesMs.push(Date.now() - Date.parse(created_at))
    ids.add(id)
    response.end()
  })
})
server.keepAliveTimeout = 60_000
server.listen(0, '127.0.0.1', () => process.send?.({ port: (server.address() as AddressInfo).port }))
process.on('message', (asked) => {
  if (asked === 'figures') process.send?.({ agesMs, count: ids.size })
  if (asked === 'ids') process.send?.({ ids: [...ids] })
  if (asked === 'forget') agesMs.length = 0
})
process.on('disconnect', () => process.exit())
