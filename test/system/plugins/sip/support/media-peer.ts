import dgram from 'node:dgram'
import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import type { SipRequest } from '../../../../../plugins/sip/message/message.ts'
import type { Leg, MediaFigures } from '../../../../../runtime/call/types/leg.ts'
import { decodeG711, encodeG711 } from '../../../../../runtime/media/codecs/g711.ts'
import { type RtpPacket, readRtp, writeRtp } from '../../../../../runtime/media/line/rtp-packet.ts'
import type { Teardown } from '../../../../support/instance/services.ts'
import { accepted, type Peer, startCarrier, startPeer, trunkOf } from './carrier.ts'
import { inDialog } from './dialog.ts'

/** Callees with sound of their own: signalling and RTP on real sockets. */

const SAMPLES = 160
const FRAME_MS = 20
const LOUD = Int16Array.from({ length: SAMPLES }, (_, i) => 8_000 * Math.sin(i / 4))

export type Law = 'pcmu' | 'pcma'

/** 20 ms of a voice. */
export const voice = (law: Law): Uint8Array => encodeG711(law, LOUD)

/** A description of sound at this port. */
export const description = (port: number, formats: string, ...lines: string[]): string =>
  [
    ...['v=0', 'o=- 1 1 IN IP4 127.0.0.1', 's=-', 'c=IN IP4 127.0.0.1', 't=0 0'],
    ...[`m=audio ${port} RTP/AVP ${formats}`, ...lines, ''],
  ].join('\r\n')

/** A place that media come from and go to. */
export async function startMedia(t: Teardown) {
  const socket = dgram.createSocket('udp4').bind(0, '127.0.0.1')
  await once(socket, 'listening')
  t.teardown(() => socket.close())
  /** When packets came, by the clock of the process. */
  const cameMs: number[] = []
  socket.on('message', (bytes) => {
    if (readRtp(bytes) !== undefined) cameMs.push(performance.now())
  })
  const next = { sequence: 1_000, timestamp: 50_000, ssrc: 77 }
  return {
    port: socket.address().port,
    cameMs,
    /** Of the next packet. */
    next,
    /** Sends packets as a phone does, one every 20 ms; what `fields` says overrides the usual. */
    async send(to: number, payloads: readonly Uint8Array[], fields: Partial<RtpPacket> = {}): Promise<void> {
      for (const payload of payloads) {
        socket.send(writeRtp({ payloadType: 0, marker: false, ...next, payload, ...fields }), to, '127.0.0.1')
        next.sequence = (next.sequence + 1) & 0xffff
        next.timestamp += SAMPLES
        await sleep(FRAME_MS)
      }
    },
  }
}

/** What is heard of a call; frames of 20 ms. */
function listenTo(leg: Leg) {
  const heard = { loudFrames: 0, keys: '', figures: [] as MediaFigures[] }
  leg.start({
    audio(bytes) {
      if (decodeG711('pcmu', bytes).some((sample) => Math.abs(sample) > 2_000)) heard.loudFrames++
    },
    dtmf(key) {
      heard.keys += key
    },
    media: (figures) => heard.figures.push(figures),
    text: () => undefined,
    played: () => undefined,
    ended: () => undefined,
  })
  return heard
}

/**
 * A call of ours that a callee with a phone answers.
 * @param answer the description, given the phone's port
 * @param rings what the callee's side says before that, if anything
 */
export async function talkTo(
  t: Teardown,
  answer: (port: number) => string,
  rings?: (invite: SipRequest, peer: Peer) => void,
) {
  const media = await startMedia(t)
  const peer: Peer = await startPeer(t, (request) => {
    if (request.method !== 'INVITE') return accepted(request)
    rings?.(request, peer)
    return { status: 200, body: answer(media.port) }
  })
  const { dial } = await startCarrier(t, [trunkOf({ name: 'peer', host: `127.0.0.1:${peer.port}` })])
  const { leg, detail } = await dial('peer')
  if (leg === undefined) throw new Error(`not taken: ${detail}`)
  const invite = await peer.saw('INVITE')
  let sequence = 0
  return {
    ...{ peer, leg, media, heard: listenTo(leg) },
    /** Where our media are. */
    port: Number(/m=audio (\d+)/.exec(Buffer.from(invite.body).toString())?.[1]),
    /** Says something within the call. */
    say: (method: string, body = '', ...lines: string[]): void =>
      peer.send(inDialog(invite, { method, sequence: ++sequence, port: peer.port, lines, body })),
  }
}
