import { createSocket } from 'node:dgram'
import { mutatedBytes } from '../mutate.ts'
import type { Random } from '../random.ts'
import type { Surface } from '../surface.ts'
import { requestLines, withBody } from './sip.ts'

const PACKETS = 400
const PAUSE_MS = 50
const CALL_MS = 300

/** Packets to the media ports, with a call that is up: RTP, RTCP, SRTP, STUN and noise. */
export const rtp: Surface = {
  name: 'rtp',
  async open(world, random) {
    const socket = createSocket('udp4')
    socket.on('error', () => {})
    await new Promise<void>((resolve) => socket.bind(0, '127.0.0.1', resolve))
    const { port } = socket.address()
    let offered = 0
    const [first, last] = world.rtpPorts
    return {
      attempt: async () => {
        if (offered++ % 20 === 0) {
          const body = `v=0\r\no=- 1 1 IN IP4 127.0.0.1\r\ns=-\r\nc=IN IP4 127.0.0.1\r\nt=0 0\r\nm=audio ${port} RTP/AVP 0 101\r\na=rtpmap:101 telephone-event/8000\r\n`
          socket.send(
            withBody(requestLines(random, world, 'INVITE', port), 'application/sdp', body),
            world.sipPort,
            '127.0.0.1',
          )
          await new Promise((resolve) => setTimeout(resolve, CALL_MS))
        }
        for (let i = 0; i < PACKETS; i++)
          socket.send(packet(random), first + random.below(last - first + 1), '127.0.0.1')
        await new Promise((resolve) => setTimeout(resolve, PAUSE_MS))
      },
      close: () => void socket.close(),
    }
  },
}

function packet(random: Random): Buffer {
  const rtpPacket = () => {
    const bytes = Buffer.alloc(12 + random.pick([0, 1, 4, 160, 480, 1_400]), random.below(256))
    bytes[0] = random.pick([0x80, 0x90, 0xa0, 0x8f, 0xbf, 0x00])
    bytes[1] = random.pick([0, 8, 9, 13, 101, 111, 0x80, 0xe5])
    bytes.writeUInt16BE(random.below(65_536), 2)
    bytes.writeUInt32BE(random.below(2 ** 32), 4)
    bytes.writeUInt32BE(random.pick([1, 2, random.below(2 ** 32)]), 8)
    return bytes
  }
  const rtcp = () => {
    const bytes = Buffer.alloc(8 + 4 * random.below(20), random.below(256))
    bytes[0] = 0x80 | random.below(32)
    bytes[1] = random.pick([200, 201, 202, 203, 204, 205, 206, 207])
    bytes.writeUInt16BE(random.pick([0, 1, bytes.length / 4 - 1, 0xffff]), 2)
    return bytes
  }
  const stun = () => {
    const bytes = Buffer.alloc(20 + 4 * random.below(20), random.below(256))
    bytes.writeUInt16BE(random.pick([1, 0x101, 0x111]), 0)
    bytes.writeUInt16BE(random.pick([0, bytes.length - 20, 0xffff]), 2)
    bytes.writeUInt32BE(0x2112a442, 4)
    return bytes
  }
  const made = random.pick([rtpPacket, rtcp, stun])()
  return random.chance(0.3) ? mutatedBytes(random, made).subarray(0, 9_000) : made
}
