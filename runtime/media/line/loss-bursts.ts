/** So many packets heard in a row end a burst (RFC 3611, section 4.7.2: Gmin, as it recommends). */
const GMIN = 16

/** How the packets that were not heard lie in a stream. Shares are 0 to 1; lengths are means, in packets. */
interface LossFigures {
  burstDensity: number
  burstLength: number
  gapDensity: number
  gapLength: number
}

/**
 * Tells losses that come together, which nothing conceals, from lone ones (RFC 3611, section 4.7.2). A burst begins and ends with
 * a packet that was not heard, with fewer than 16 heard ones in a row between; all that lies outside of bursts is gaps. Pure.
 */
export class LossBursts {
  #packets = 0
  #missing = 0
  /** Those that are over. */
  #bursts = 0
  #burstPackets = 0
  #burstMissing = 0
  /** From a missing packet on; a burst once there is a second one. */
  #run = { packets: 0, missing: 0 }
  #heardSince = 0

  /** The next packet, in the order in which they were sent. */
  push(heard: boolean): void {
    this.#packets++
    if (heard) {
      this.#heardSince++
      return
    }
    this.#missing++
    if (this.#run.missing > 0 && this.#heardSince < GMIN) {
      this.#run.packets += this.#heardSince + 1
      this.#run.missing++
    } else {
      this.#closeRun()
      this.#run = { packets: 1, missing: 1 }
    }
    this.#heardSince = 0
  }

  #closeRun(): void {
    if (this.#run.missing < 2) return
    this.#bursts++
    this.#burstPackets += this.#run.packets
    this.#burstMissing += this.#run.missing
  }

  /** So far; undefined while every packet was heard. */
  get figures(): LossFigures | undefined {
    if (this.#missing === 0) return undefined
    const running = this.#run.missing < 2 ? { packets: 0, missing: 0 } : this.#run
    const bursts = this.#bursts + (running.missing > 0 ? 1 : 0)
    const burstPackets = this.#burstPackets + running.packets
    const burstMissing = this.#burstMissing + running.missing
    const gapPackets = this.#packets - burstPackets
    return {
      burstDensity: burstPackets === 0 ? 0 : burstMissing / burstPackets,
      burstLength: bursts === 0 ? 0 : burstPackets / bursts,
      gapDensity: gapPackets === 0 ? 0 : (this.#missing - burstMissing) / gapPackets,
      gapLength: gapPackets / Math.max(1, bursts),
    }
  }
}
