import type { UdpSocket } from '../../../runtime/plugin/contract.ts'

/** How often another pair is tried when one is taken by a stranger. */
const MAX_TRIES = 20

export interface MediaPair {
  /** The even port, which a session description names. */
  readonly rtp: UdpSocket
  readonly rtcp: UdpSocket
}

/** Pairs of UDP ports from a range: even for RTP, the next for RTCP. */
export class MediaPorts {
  readonly #open: (port: number) => Promise<UdpSocket>
  readonly #first: number
  readonly #pairs: number
  readonly #taken = new Set<number>()
  readonly #random: () => number

  /** @param random 0 to 1: the next call's ports must be unguessable, and two processes on one machine rarely collide */
  constructor(
    range: { first: number; last: number },
    random: () => number,
    open: (port: number) => Promise<UdpSocket>,
  ) {
    this.#first = range.first + (range.first % 2)
    this.#pairs = Math.max(0, Math.floor((range.last - this.#first + 1) / 2))
    this.#random = random
    this.#open = open
  }

  get inUse(): number {
    return this.#taken.size
  }

  /** Undefined when all are in use. */
  async take(): Promise<MediaPair | undefined> {
    const start = Math.floor(this.#random() * this.#pairs)
    for (let tries = 0; tries < Math.min(MAX_TRIES + this.#taken.size, this.#pairs); tries++) {
      const port = this.#first + 2 * ((start + tries) % this.#pairs)
      if (this.#taken.has(port)) continue
      this.#taken.add(port)
      const pair = await this.#openPair(port)
      if (pair !== undefined) return pair
      this.#taken.delete(port)
    }
    return undefined
  }

  release(pair: MediaPair): void {
    pair.rtp.close()
    pair.rtcp.close()
    this.#taken.delete(pair.rtp.port)
  }

  async #openPair(port: number): Promise<MediaPair | undefined> {
    const [rtp, rtcp] = await Promise.allSettled([this.#open(port), this.#open(port + 1)])
    if (rtp.status === 'fulfilled' && rtcp.status === 'fulfilled') return { rtp: rtp.value, rtcp: rtcp.value }
    if (rtp.status === 'fulfilled') rtp.value.close()
    if (rtcp.status === 'fulfilled') rtcp.value.close()
    const failure = rtp.status === 'rejected' ? rtp.reason : rtcp.status === 'rejected' ? rtcp.reason : undefined
    if ((failure as NodeJS.ErrnoException | undefined)?.code !== 'EADDRINUSE') throw failure
    return undefined
  }
}
