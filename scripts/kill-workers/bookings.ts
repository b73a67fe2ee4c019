import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

/** How long a booking takes: long enough to lose one's worker in it. */
const BOOKING_MS = 1_200

export interface Bookings {
  readonly port: number
  /** The `Idempotency-Key` of each request, in order. */
  readonly keys: readonly string[]
  close(): Promise<void>
}

/** A server that books, slowly, and remembers every request. */
export async function startBookings(): Promise<Bookings> {
  const keys: string[] = []
  const server = createServer((request, response) => {
    request.resume()
    keys.push(String(request.headers['idempotency-key']))
    const number = keys.length
    setTimeout(() => response.end(String(number)), BOOKING_MS)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    port: (server.address() as AddressInfo).port,
    keys,
    async close() {
      server.close()
      server.closeAllConnections()
    },
  }
}
