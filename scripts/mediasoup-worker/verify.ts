/**
 * Whether a mediasoup worker carries calls: `verify.ts <program>` starts it, and a peer connection shakes hands with it and sends
 * it sound. Where no peer connection is installed (production images), that it starts and listens must do. Says on its last line of
 * stderr what is wrong, if anything.
 */
import { pino } from 'pino'
import { MediaServer } from '../../api/realtime/webrtc/media-server.ts'
import { OPUS_SILENCE } from '../../runtime/media/codecs/opus-packet.ts'

/** It carries sound in less than one; a machine that compiles and tests beside it takes its time. */
const TIMEOUT_MS = 60_000
const EVERY_MS = 20

const [workerBin] = process.argv.slice(2)
if (workerBin === undefined) fail('Usage: verify.ts <program>')
setTimeout(() => fail('No sound came through within a minute'), TIMEOUT_MS).unref()

const log = pino({ level: 'silent' })
const server = new MediaServer({ workerBin, ports: [0], publicAddress: undefined, log })
const peers = await import('../webrtc-peer.ts').catch(() => undefined)
try {
  await server.start()
  if (peers === undefined) process.exit(0)
  const peer = new peers.WebRtcPeer()
  const heard = Promise.withResolvers<void>()
  const transport = await server.open({
    packet: () => heard.resolve(),
    connected: () => undefined,
    lost: () => fail('The worker ended, or ended the connection'),
  })
  if ((await transport.answer(await peer.answer(transport.offer()))) !== 'taken') fail('Its offer was misunderstood')
  let position = 0
  const beat = setInterval(() => {
    peer.send(OPUS_SILENCE)
    transport.send({ frame: OPUS_SILENCE, position: position++ })
  }, EVERY_MS)
  await Promise.all([heard.promise, peer.heard()])
  clearInterval(beat)
} catch (error) {
  fail(error instanceof Error ? error.message : String(error))
}
process.exit(0)

function fail(why: string): never {
  process.stderr.write(`${why}\n`)
  process.exit(1)
}
