import dgram from 'node:dgram'
import { once } from 'node:events'
import type { Teardown } from '../instance/services.ts'

/** Which way a datagram goes: to the port, or back from it. */
export type Way = 'there' | 'back'

/** A way to a UDP port of this machine, by a port of its own; it can be cut, and loses what `passes` says no to. */
export async function startUdpRelay(
  t: Teardown,
  port: number,
  passes: (packet: Uint8Array, way: Way) => boolean = () => true,
): Promise<{ port: number; cut(): void }> {
  const front = dgram.createSocket('udp4')
  /** Towards the port, one for each that sends. */
  const backs = new Map<string, dgram.Socket>()
  let isCut = false
  front.on('message', (packet, from) => {
    if (isCut || !passes(packet, 'there')) return
    const name = `${from.address}:${from.port}`
    let back = backs.get(name)
    if (back === undefined) {
      back = dgram.createSocket('udp4')
      back.on('message', (answer) => {
        if (!isCut && passes(answer, 'back')) front.send(answer, from.port, from.address)
      })
      back.on('error', () => undefined)
      backs.set(name, back)
    }
    back.send(packet, port, '127.0.0.1')
  })
  front.bind(0, '127.0.0.1')
  await once(front, 'listening')
  t.teardown(() => {
    isCut = true
    for (const socket of [front, ...backs.values()]) socket.close()
  })
  const cut = () => {
    isCut = true
  }
  return { port: front.address().port, cut }
}
