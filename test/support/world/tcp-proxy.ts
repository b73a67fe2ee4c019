import { once } from 'node:events'
import { connect, createServer, type Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Teardown } from '../instance/services.ts'

/** Between the page and the server; what goes through can be cut off, or be left to wait for ever. */
export async function startProxy(t: Teardown, port: number) {
  const sockets = new Set<Socket>()
  let isCut = false
  let cutAtMs = 0
  const server = createServer((incoming) => {
    if (isCut) return void incoming.destroy()
    const outgoing = connect(port, '127.0.0.1')
    for (const socket of [incoming, outgoing]) {
      sockets.add(socket)
      socket
        .on('error', () => undefined)
        .on('close', () => {
          incoming.destroy()
          outgoing.destroy()
          sockets.delete(socket)
        })
    }
    incoming.pipe(outgoing).pipe(incoming)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const cut = () => {
    isCut = true
    cutAtMs = performance.now()
    for (const socket of sockets) socket.destroy()
  }
  t.teardown(() => {
    cut()
    server.close()
  })
  return {
    port: (server.address() as { port: number }).port,
    cut,
    /** Mends it so long after it was cut: what was done meanwhile took its part of that. */
    async mendAfter(awayMs: number) {
      await sleep(Math.max(0, cutAtMs + awayMs - performance.now()))
      isCut = false
    },
    /** Nothing comes through any more on what is open now, and nobody is told. */
    silence() {
      for (const socket of sockets) socket.unpipe().pause()
    },
  }
}
