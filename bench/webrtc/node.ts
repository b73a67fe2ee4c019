/**
 * An api node's media alone: each WebSocket gets a leg that sends back what it hears; of one that names itself as a talker it listens
 * as a voice worker does, and tells in the end what was understood. Tells its parent its port, and what it used when asked.
 */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { pino } from 'pino'
import { type WebSocket, WebSocketServer } from 'ws'
import type { RealtimeLeg } from '../../api/realtime/realtime-leg.ts'
import { Resumes } from '../../api/realtime/resumes.ts'
import { MediaServer } from '../../api/realtime/webrtc/media-server.ts'
import { WebRtcLeg } from '../../api/realtime/webrtc/webrtc-leg.ts'
import { WebSocketLeg } from '../../api/realtime/websocket-leg.ts'
import { systemClock as clock } from '../../runtime/lib/clock.ts'
import { Pacer } from '../../runtime/media/line/pacer.ts'
import type { Socket } from '../../runtime/process/web-socket.ts'
import { listenTo } from './ears.ts'

const SAMPLE_RATE_HZ = 24_000
/** A frame of one channel in wide band (RFC 6716, section 3.1). */
const OPUS_HEAD = 0x68
/** Of Opus, whose first packets may be lost, or come before the client can read them. */
const WORD_FRAMES = 250
const log = pino({ level: 'silent' })
const [workerBin = ''] = process.argv.slice(2)
const server = new MediaServer({ workerBin, ports: [0], publicAddress: undefined, log })
await server.start()
const pacer = new Pacer(clock, (error) => console.error(error))
const redis = { set: async () => 'OK', get: async () => null, del: async () => 0 } as never
const resumes = new Resumes({ redis, nodeUrl: () => 'http://localhost', ttlMs: 60_000, log })
let calls = 0

const http = createServer()
new WebSocketServer({ server: http }).on('connection', (ws, { url }) => {
  const connection = { callId: `call-${++calls}`, socket: socketOf(ws), clock, resumes }
  const talker = new URL(url ?? '', 'ws://localhost').searchParams.get('talker')
  const begin = async (leg: RealtimeLeg): Promise<void> => {
    const ears = talker === null ? undefined : await listenTo(leg.format, pacer)
    if (ears !== undefined) ws.on('close', () => process.send?.({ talker, heard: ears.end() }))
    let isHeard = false
    leg.start({
      audio: (bytes, timestamp) => {
        if (!isHeard) leg.clear()
        isHeard = true
        if (ears === undefined) leg.sendAudio(bytes.slice())
        else ears.audio(bytes, timestamp)
      },
      text: () => undefined,
      dtmf: () => undefined,
      played: () => undefined,
      ended: () => undefined,
    })
    leg.answer()
    // What bears no time is the first word of the agent; it ends when the caller speaks.
    if (leg.format.encoding === 'opus') {
      const word = Buffer.from([OPUS_HEAD, ...new Uint8Array(79)])
      for (let frame = 0; frame < WORD_FRAMES; frame++) leg.sendAudio(word)
    } else leg.sendAudio(new Uint8Array(960))
  }
  let leg: RealtimeLeg
  if (url?.includes('media=webrtc')) {
    const open = server.open.bind(server)
    const peer = new WebRtcLeg({ ...connection, open, pacer, log, released: () => undefined })
    void peer.connection.then((how) => (how === 'connected' ? begin(peer) : undefined))
    leg = peer
  } else {
    leg = new WebSocketLeg({ ...connection, sampleRateHz: SAMPLE_RATE_HZ })
    begin(leg)
  }
  ws.on('message', (data: Buffer, isBinary) => leg.handlers.message(isBinary ? data : data.toString()))
  ws.on('close', (code) => leg.handlers.close(code))
})
http.listen(0, '127.0.0.1', () => process.send?.({ port: (http.address() as AddressInfo).port }))
process.on('message', () => {
  const { user, system } = process.cpuUsage()
  void server.cpuSeconds().then((workerS) => process.send?.({ nodeS: (user + system) / 1e6, workerS }))
})
process.on('disconnect', () => process.exit())

function socketOf(ws: WebSocket): Socket {
  return {
    send: (data: string | Uint8Array) => {
      ws.send(data)
      return true
    },
    bufferedBytes: () => ws.bufferedAmount,
    close: (code?: number, reason?: string) => ws.close(code, reason),
    terminate: () => ws.terminate(),
  } as Socket
}
