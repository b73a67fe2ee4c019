import dgram from 'node:dgram'
import { once } from 'node:events'
import type { Teardown } from './services.ts'

/** A way to a UDP port of this machine, by a port of its own; it can be cut. */
export async function startUdpRelay(t: Teardown, port: number): Promise<{ port: number; cut(): void }> {
  const front = dgram.createSocket('udp4')
  /** Towards the port, one for each that sends. */
  const backs = new Map<string, dgram.Socket>()
  let isCut = false
  front.on('message', (packet, from) => {
    if (isCut) return
    const name = `${from.address}:${from.port}`
    let back = backs.get(name)
    if (back === undefined) {
      back = dgram.createSocket('udp4')
      back.on('message', (answer) => isCut || front.send(answer, from.port, from.address))
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
