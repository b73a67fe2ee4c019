import { randomInt } from 'node:crypto'
import type { types } from 'mediasoup'
import type { MediaFigures } from '../../../runtime/call/types/leg.ts'
import { boundary } from '../../../runtime/lib/async/boundary.ts'
import { MAX_OPUS_BYTES, OPUS_CLOCK_HZ } from '../../../runtime/media/codecs/opus-packet.ts'
import { FRAME_MS } from '../../../runtime/media/frame.ts'
import { meanOpinionScore } from '../../../runtime/media/line/mean-opinion-score.ts'
import { readRtp, writeRtp } from '../../../runtime/media/line/rtp-packet.ts'
import type { SentFrame } from './opus-sender.ts'
import { OPUS_PAYLOAD_TYPE, offerOf, readAnswer } from './sdp.ts'

export const OPUS: types.RouterRtpCodecCapability & { preferredPayloadType: number } = {
  kind: 'audio',
  mimeType: 'audio/opus',
  clockRate: OPUS_CLOCK_HZ,
  channels: 2,
  preferredPayloadType: OPUS_PAYLOAD_TYPE,
  parameters: { useinbandfec: 1, minptime: 10 },
}
const CODEC: types.RtpCodecParameters = {
  mimeType: OPUS.mimeType,
  clockRate: OPUS.clockRate,
  channels: 2,
  payloadType: OPUS_PAYLOAD_TYPE,
  parameters: { useinbandfec: 1 },
}
const TICKS_PER_FRAME = (OPUS_CLOCK_HZ * FRAME_MS) / 1000
/** From the browser's jitter buffer to the ear. */
const PLAYOUT_MS = 60

export interface MediaTransportEvents {
  /** An Opus packet of the caller; `timestamp` counts OPUS_CLOCK_HZ from 0 and skips what was lost. */
  packet(payload: Uint8Array, timestamp: number): void
  /** Both directions are open. Called once, not after a restart. */
  connected(): void
  /** The browser ended it, or the worker is gone. */
  lost(): void
}

/** What came of a session description: rubbish, no answer to this offer, or taken. */
type AnswerVerdict = 'taken' | 'invalid' | 'stranger'

interface OfferTerms {
  /** What is sent has two channels. */
  stereo: boolean
  /** Candidates of other addresses are left out of the offer. */
  onlyAddress: string | undefined
}

/** The media of one call: a transport towards the browser, and a direct one of packets towards us. */
export class MediaTransport {
  readonly #web: types.WebRtcTransport
  readonly #direct: types.DirectTransport
  readonly #agent: types.Producer
  readonly #toCaller: types.Consumer
  readonly #events: MediaTransportEvents
  readonly #terms: OfferTerms
  readonly #ssrc: number
  readonly #sessionId = String(randomInt(1, 2 ** 47))
  readonly #firstSequence = randomInt(0, 0x10000)
  readonly #firstTimestamp = randomInt(0, 2 ** 32)
  #version = 0
  /** Whose answer was taken. */
  #fingerprint: string | undefined
  #fromCaller: types.Producer | undefined
  #last: number | undefined
  #position = 0
  #sent = 0
  #closed = false

  private constructor(
    web: types.WebRtcTransport,
    direct: types.DirectTransport,
    agent: types.Producer,
    toCaller: types.Consumer,
    ssrc: number,
    events: MediaTransportEvents,
    terms: OfferTerms,
  ) {
    this.#web = web
    this.#direct = direct
    this.#agent = agent
    this.#toCaller = toCaller
    this.#ssrc = ssrc
    this.#events = events
    this.#terms = terms
    web.on(
      'dtlsstatechange',
      boundary('webrtc', (state) => {
        if (state === 'connected' && !this.#closed) events.connected()
        if (state === 'failed' || state === 'closed') this.#lose()
      }),
    )
    web.on(
      'routerclose',
      boundary('webrtc', () => this.#lose()),
    )
  }

  static async open(
    router: types.Router,
    webRtcServer: types.WebRtcServer,
    events: MediaTransportEvents,
    terms: OfferTerms,
  ): Promise<MediaTransport> {
    const web = await router.createWebRtcTransport({ webRtcServer, enableUdp: true, enableTcp: true, preferUdp: true })
    try {
      const direct = await router.createDirectTransport()
      const ssrc = randomInt(1, 2 ** 32)
      const agent = await direct.produce({ kind: 'audio', rtpParameters: { codecs: [CODEC], encodings: [{ ssrc }] } })
      const toCaller = await web.consume({ producerId: agent.id, rtpCapabilities: { codecs: [OPUS] } })
      return new MediaTransport(web, direct, agent, toCaller, ssrc, events, terms)
    } catch (error) {
      web.close()
      throw error
    }
  }

  /** What the browser is to answer. */
  offer(): string {
    const { iceParameters, iceCandidates, dtlsParameters } = this.#web
    const { rtpParameters } = this.#toCaller
    const { stereo, onlyAddress } = this.#terms
    const fingerprint = dtlsParameters.fingerprints.find(({ algorithm }) => algorithm === 'sha-256')
    return offerOf({
      sessionId: this.#sessionId,
      version: ++this.#version,
      ice: iceParameters,
      candidates: iceCandidates.filter(({ address }) => onlyAddress === undefined || address === onlyAddress),
      fingerprint: fingerprint?.value ?? '',
      ssrc: rtpParameters.encodings?.[0]?.ssrc ?? 0,
      cname: rtpParameters.rtcp?.cname ?? 'agent',
      stereo,
    })
  }

  /** Connects to the first peer that answers; `stranger`: another peer connection than before. */
  async answer(sdp: string): Promise<AnswerVerdict> {
    const answer = readAnswer(sdp)
    if (answer === undefined) return 'invalid'
    const { role, fingerprint, ssrc, cname } = answer
    const isFirst = this.#fingerprint === undefined
    if (!isFirst && this.#fingerprint !== fingerprint.value) return 'stranger'
    this.#fingerprint = fingerprint.value
    try {
      // Before the handshake, so that the first words are received; or later, when the client opens the microphone in the call.
      if (ssrc !== undefined && this.#fromCaller === undefined) await this.#hear(ssrc, cname)
      if (isFirst && !this.#closed) await this.#web.connect({ dtlsParameters: { role, fingerprints: [fingerprint] } })
    } catch (error) {
      // The worker may be gone meanwhile; `lost` reports that.
      if (!this.#closed && !this.#web.closed) throw error
    }
    return 'taken'
  }

  async #hear(ssrc: number, cname: string | undefined): Promise<void> {
    const rtcp = { cname: cname ?? 'caller' }
    const rtpParameters = { mid: '0', codecs: [CODEC], encodings: [{ ssrc }], rtcp }
    this.#fromCaller = await this.#web.produce({ kind: 'audio', rtpParameters })
    if (this.#closed) return
    const producerId = this.#fromCaller.id
    const toUs = await this.#direct.consume({ producerId, rtpCapabilities: { codecs: [OPUS] } })
    toUs.on(
      'rtp',
      boundary('webrtc', (packet) => this.#received(packet)),
    )
  }

  /** New addresses are looked for; the browser is to answer what comes back. */
  async restart(): Promise<string> {
    await this.#web.restartIce()
    return this.offer()
  }

  /** 20 ms of the agent's voice, or of silence. */
  send({ frame, position }: SentFrame): void {
    if (this.#closed || this.#agent.closed) return
    const packet = writeRtp({
      payloadType: OPUS_PAYLOAD_TYPE,
      marker: false,
      sequence: (this.#firstSequence + this.#sent++) & 0xffff,
      timestamp: (this.#firstTimestamp + position * TICKS_PER_FRAME) % 2 ** 32,
      ssrc: this.#ssrc,
      payload: frame,
    })
    try {
      this.#agent.send(packet)
    } catch {
      // A worker that died a moment ago: `lost` follows.
    }
  }

  /** How the line is; undefined while nothing is known. Rejects when the worker is gone. */
  async figures(): Promise<MediaFigures | undefined> {
    if (this.#closed || this.#fromCaller === undefined) return undefined
    const [inbound, outbound] = await Promise.all([this.#fromCaller.getStats(), this.#toCaller.getStats()])
    const up = inbound.find((stat) => stat.type === 'inbound-rtp')
    const down = outbound.find((stat) => stat.type === 'outbound-rtp')
    if (up === undefined || up.packetCount === 0) return undefined
    const lost = Math.max(0, up.packetsLost)
    const loss = lost / (lost + up.packetCount)
    const jitterMs = (up.jitter * 1000) / OPUS_CLOCK_HZ
    const rttMs = down?.roundTripTime ?? up.roundTripTime
    const delayMs = (rttMs ?? 0) / 2 + FRAME_MS + PLAYOUT_MS + jitterMs
    return {
      codec: 'opus',
      packets: up.packetCount,
      loss: rounded(loss, 4),
      jitterMs: rounded(jitterMs, 1),
      ...(rttMs === undefined || rttMs === 0 ? {} : { rttMs: Math.round(rttMs) }),
      mos: rounded(meanOpinionScore(loss, delayMs), 2),
    }
  }

  close(): void {
    if (this.#closed) return
    this.#closed = true
    this.#web.close()
    this.#direct.close()
  }

  #lose(): void {
    if (this.#closed) return
    this.close()
    this.#events.lost()
  }

  #received(packet: Buffer): void {
    const rtp = readRtp(packet)
    if (this.#closed || rtp === undefined || rtp.payloadType !== OPUS_PAYLOAD_TYPE) return
    if (rtp.payload.length === 0 || rtp.payload.length > MAX_OPUS_BYTES) return
    // Timestamps are 32 bits and begin anywhere.
    if (this.#last !== undefined) this.#position += (rtp.timestamp - this.#last) | 0
    this.#last = rtp.timestamp
    if (this.#position >= 0) this.#events.packet(rtp.payload, this.#position)
  }
}

function rounded(value: number, digits: number): number {
  return Math.round(value * 10 ** digits) / 10 ** digits
}
