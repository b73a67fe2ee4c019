import { randomInt } from 'node:crypto'
import dgram from 'node:dgram'
import { once } from 'node:events'
import net from 'node:net'

/** Linux gives ports from 32,768 on to programs that ask for any port, and from 20,000 on tests put media: one below them is nobody's by chance. */
const FIRST = 10_000
const LAST = 19_998

/** A port that is free for UDP and TCP on loopback, and stays so while others ask for any port. */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = randomInt(FIRST, LAST)
    const udp = dgram.createSocket('udp4').bind(port, '127.0.0.1')
    const tcp = net.createServer().listen(port, '127.0.0.1')
    const [isFree, isFreeToo] = await Promise.all([udp, tcp].map((one) => isHeard(one)))
    udp.close()
    tcp.close()
    if (isFree && isFreeToo) return port
  }
}

const isHeard = (one: dgram.Socket | net.Server): Promise<boolean> =>
  once(one, 'listening').then(
    () => true,
    () => false,
  )
