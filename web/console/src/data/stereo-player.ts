/** How much is kept ready, so that a packet may be late. */
const AHEAD_S = 0.12
/** What would be heard later than this is left out: the call goes on meanwhile. */
const MAX_BEHIND_S = 1
const LEVEL_EVERY_S = 0.1

type Side = 'microphone' | 'agent'

/** Plays interleaved 16-bit stereo as it comes: the caller on the left, the other side on the right. */
export class StereoPlayer {
  readonly #context: AudioContext
  readonly #left: GainNode
  readonly #right: GainNode
  readonly #split: ChannelSplitterNode
  readonly #level: (side: Side, level: number) => void
  #playedUntil = 0
  #squares = { microphone: 0, agent: 0, count: 0 }

  constructor(rateHz: number, level: (side: Side, level: number) => void) {
    this.#level = level
    // At the rate of the sound its pieces fit without a seam.
    this.#context = new AudioContext({ sampleRate: rateHz })
    this.#split = this.#context.createChannelSplitter(2)
    const merge = this.#context.createChannelMerger(2)
    this.#left = this.#context.createGain()
    this.#right = this.#context.createGain()
    this.#split.connect(this.#left, 0).connect(merge, 0, 0)
    this.#split.connect(this.#right, 1).connect(merge, 0, 1)
    merge.connect(this.#context.destination)
  }

  /** `caller`: who speaks to the caller hears their own voice no second time. */
  hear(sides: 'both' | 'caller'): void {
    this.#right.gain.value = sides === 'both' ? 1 : 0
  }

  play(samples: Int16Array): void {
    const frames = samples.length >> 1
    if (frames === 0) return
    const { currentTime, sampleRate } = this.#context
    const buffer = this.#context.createBuffer(2, frames, sampleRate)
    const [left, right] = [buffer.getChannelData(0), buffer.getChannelData(1)]
    for (let i = 0; i < frames; i++) {
      left[i] = samples[2 * i]! / 32_768
      right[i] = samples[2 * i + 1]! / 32_768
      this.#squares.microphone += left[i]! ** 2
      this.#squares.agent += right[i]! ** 2
    }
    this.#measured(frames, sampleRate)
    if (this.#playedUntil > currentTime + MAX_BEHIND_S) return
    if (this.#playedUntil < currentTime) this.#playedUntil = currentTime + AHEAD_S
    const source = this.#context.createBufferSource()
    source.buffer = buffer
    source.connect(this.#split)
    source.start(this.#playedUntil)
    this.#playedUntil += buffer.duration
  }

  close(): void {
    void this.#context.close()
  }

  #measured(frames: number, rateHz: number): void {
    const sums = this.#squares
    sums.count += frames
    if (sums.count < LEVEL_EVERY_S * rateHz) return
    this.#level('microphone', Math.sqrt(sums.microphone / sums.count))
    this.#level('agent', Math.sqrt(sums.agent / sums.count))
    this.#squares = { microphone: 0, agent: 0, count: 0 }
  }
}
