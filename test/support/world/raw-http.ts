import { once } from 'node:events'
import { connect, type Socket } from 'node:net'

/** A TCP connection to a server under test, for requests no client library would send. */
export interface RawConnection {
  readonly socket: Socket
  write(text: string | Uint8Array): void
  /** Everything received once `predicate` holds for it; rejects when the connection ends before. */
  until(predicate: (received: string) => boolean): Promise<string>
  /** Everything received when the server has closed the connection. */
  closed(): Promise<string>
}

export async function openRaw(url: string): Promise<RawConnection> {
  const { hostname, port } = new URL(url)
  const socket = connect(Number(port), hostname)
  await once(socket, 'connect')
  let received = ''
  let over = false
  const changed = new Set<() => void>()
  const change = () => {
    for (const notify of [...changed]) notify()
  }
  socket.on('data', (chunk) => {
    received += chunk.toString('latin1')
    change()
  })
  socket.on('error', () => {})
  socket.on('close', () => {
    over = true
    change()
  })
  const wait = (isDone: () => boolean, isFailed: () => boolean) =>
    new Promise<string>((resolve, reject) => {
      const check = () => {
        if (!isDone() && !isFailed()) return
        changed.delete(check)
        if (isDone()) resolve(received)
        else reject(new Error(`The connection ended after ${JSON.stringify(received)}`))
      }
      changed.add(check)
      check()
    })
  return {
    socket,
    write: (text) => void socket.write(text),
    until: (predicate) =>
      wait(
        () => predicate(received),
        () => over,
      ),
    closed: () =>
      wait(
        () => over,
        () => false,
      ),
  }
}
