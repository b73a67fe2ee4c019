import dgram from 'node:dgram'
import { once } from 'node:events'
import type { Teardown } from '../instance/services.ts'

/** Whoever repeats what was lost gets through in the end: the third copy of the same bytes always passes. */
const MOST_LOST = 2

export interface BadLineOptions {
  /** Where everything goes that comes in. */
  to: number
  /** Share of datagrams that never arrive, each way, but for the third copy of one. */
  loss?: number
  /** Each is late by up to so much: later ones overtake earlier ones. */
  maxDelayMs?: number
  /** Share of datagrams that come twice. */
  twice?: number
  /** The same numbers make the same line. */
  seed?: number
}

export interface BadLine {
  readonly port: number
  /** As a router that forgot: what goes out comes from another port from now on. What comes in to the old one is lost. */
  rebind(): Promise<void>
  /** Datagrams that were taken, and those of them that were dropped. */
  readonly counts: { taken: number; dropped: number }
}

/** A line between one phone and a port that drops, delays, reorders, doubles and rebinds what passes, as radio and routers do. */
export async function startBadLine(t: Teardown, options: BadLineOptions): Promise<BadLine> {
  const { to, loss = 0, maxDelayMs = 0, twice = 0 } = options
  let state = options.seed ?? 1
  const random = (): number => {
    state = (state * 48_271) % 2_147_483_647
    return state / 2_147_483_647
  }
  const counts = { taken: 0, dropped: 0 }
  const timers = new Set<NodeJS.Timeout>()
  /** How often each datagram was dropped. */
  const lost = new Map<string, number>()
  const pass = (bytes: Buffer, send: () => void): void => {
    counts.taken++
    const name = bytes.toString('latin1')
    const before = lost.get(name) ?? 0
    if (random() < loss && before < MOST_LOST) {
      lost.set(name, before + 1)
      counts.dropped++
      return
    }
    for (let copies = random() < twice ? 2 : 1; copies > 0; copies--) {
      const timer = setTimeout(() => {
        timers.delete(timer)
        send()
      }, random() * maxDelayMs)
      timers.add(timer)
    }
  }
  let phone: dgram.RemoteInfo | undefined
  const near = await bound()
  let far = await outer()
  near.on('message', (bytes, from) => {
    phone = from
    pass(bytes, () => far.send(bytes, to, '127.0.0.1'))
  })
  async function outer(): Promise<dgram.Socket> {
    const socket = await bound()
    socket.on('message', (bytes) =>
      pass(bytes, () => {
        if (phone !== undefined) near.send(bytes, phone.port, phone.address)
      }),
    )
    return socket
  }
  t.teardown(() => {
    for (const timer of timers) clearTimeout(timer)
    near.close()
    far.close()
  })
  return {
    port: near.address().port,
    counts,
    async rebind() {
      const old = far
      far = await outer()
      old.close()
    },
  }
}

async function bound(): Promise<dgram.Socket> {
  const socket = dgram.createSocket('udp4').bind(0, '127.0.0.1')
  await once(socket, 'listening')
  return socket
}
