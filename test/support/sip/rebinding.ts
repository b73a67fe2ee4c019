import { once } from 'node:events'
import { createServer } from 'node:http'
import { setImmediate as turn } from 'node:timers/promises'
import { KeptConnections } from '../../../runtime/tools/connections.ts'
import { sendRequest } from '../../../runtime/tools/http-request.ts'
import { startNameServer } from './name-server.ts'

/**
 * Entry of a process in a network of its own (rebinding.test.ts), where the system asks the name server that runs here: sends
 * requests to names whose addresses change, and prints what came of each as a line of JSON.
 */

const [publicAddress = '', privateAddress = ''] = process.argv.slice(2)
const PORT = 8080

export interface Rebound {
  name: string
  /** What was reached, or the error's name. */
  came: string[]
  /** How often the name's address was asked for. */
  asked: number
}

const names = await startNameServer('127.0.0.1', 53, (name, nth) => {
  if (name === 'never.example' || name === 'public.example') return [publicAddress]
  if (name === 'always.example') return [privateAddress]
  return [nth === 1 ? publicAddress : privateAddress]
})
const servers = await Promise.all(
  [publicAddress, privateAddress].map(async (address) => {
    const server = createServer(({ url }, response) => {
      if (url === '/redirect') response.writeHead(307, { location: `http://always.example:${PORT}/` })
      response.end(address)
    })
    await once(server.listen(PORT, address), 'listening')
    return server
  }),
)

async function reach(name: string, path: string, times: number, connections?: KeptConnections) {
  const came: string[] = []
  for (let i = 0; i < times; i++) {
    const outgoing = { method: 'POST', url: `http://${name}:${PORT}${path}`, headers: {}, body: 'x' }
    const options = { over: connections ?? { allowed: [] }, signal: AbortSignal.timeout(20_000) }
    came.push(
      await sendRequest(outgoing, options).then(
        ({ text }) => text,
        (error: Error) => error.name,
      ),
    )
    // A connection that is kept is there again.
    await turn()
  }
  process.stdout.write(`${JSON.stringify({ name, came, asked: names.asked.get(name) ?? 0 } satisfies Rebound)}\n`)
}

await reach('rebound.example', '/', 3)
await reach('always.example', '/', 1)
await reach('never.example', '/', 2)
await reach('public.example', '/redirect', 1)
const kept = new KeptConnections({ allowed: [], idleMs: 10_000 })
await reach('kept.example', '/', 3, kept)
kept.close()
names.close()
for (const server of servers) {
  server.close()
  server.closeAllConnections()
}
