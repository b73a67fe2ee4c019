import { FRAME_MS } from '../frame.ts'
import { BANDS, BandLevels, FLOOR_DB, type Levels } from './bands.ts'
import { EchoPathFinder, MAX_LAG } from './echo-path.ts'
import { NoiseFloor } from './noise-floor.ts'

/** While nothing is known of a line, what comes back is taken to have lost at least this. */
const UNKNOWN_GAIN_DB = -9
/** What is louder by this than the echo would be is not the echo. */
const MARGIN_DB = 6
/** A room goes on sounding: per frame it loses this. */
const DECAY_DB = 3
/** Below this an echo is inaudible. */
const INAUDIBLE_DB = -70
/** Share of a frame's energy, unexplained by echo, that means near-end speech. */
const OWN_SHARE = 0.5
/** Near-end speech passes once OWN_FRAMES of the last OF_FRAMES hold it, and for OPEN_FRAMES after that. */
const OWN_FRAMES = 2
const OF_FRAMES = 4
const OPEN_FRAMES = 15
/** The line's clock is read off the earliest of so many packets, and anew when it jumps. */
const ANCHOR_PACKETS = 25
const ANCHOR_GAP_MS = 1_000
/** How far the delay may be off, in frames: queues on the way don't stand still. */
const LAG_TOLERANCE = 2
/** What was held back came up to so much sooner: players that begin draw sound out until they have enough of it. */
const BEGINNING_LAGS = 8
/** Of what was sent so many frames ago nothing is compared or expected any more. */
const FORGOTTEN_FRAMES = MAX_LAG + LAG_TOLERANCE + 1
/** The loudest sample of a caller who is heard at all, in dB of full scale. */
const AUDIBLE_DB = -60
/** What may be either’s is held back so long, in frames: until likeness tells anything, at most, and where it is like the agent’s. */
const MIN_HELD = 11
const MAX_HELD = 45
const MAX_HELD_ALIKE = 70
/** The agent speaks still, so many frames after the last one that left. */
const STILL_SPEAKS_FRAMES = 5
/** A sound is over after so many silent frames. */
const SOUND_OVER_FRAMES = 10
const OVERDUE_MS = 300
/** A piece of speech leaves frame by frame, though the ticks wobble. */
const SAME_SPEECH_FRAMES = 3

/** What was heard of the caller: samples, of which the last came then, in monotonic milliseconds. */
export interface HeardPiece {
  readonly samples: Int16Array
  readonly atMs: number
  /** Of its last sample, in milliseconds of the caller's timestamps. */
  readonly soundMs: number
}

/** A frame of what was heard: its place in time, its levels, and those without the line's noise. */
interface Frame {
  readonly slot: number
  readonly whole: Levels
  readonly levels: Levels
}

interface Piece extends HeardPiece {
  /** The frames that it completed. */
  readonly frames: readonly Frame[]
}

const given = ({ samples, atMs, soundMs }: Piece, heard: boolean): HeardPiece => ({
  samples: heard ? samples : new Int16Array(samples.length),
  atMs,
  soundMs,
})

/**
 * Removes the agent's echo from the caller's audio: telephones, speakers and analogue lines send it back. What
 * was sent is known, and so, once it was heard coming back, are its delay and its loss (echo-path.ts): a frame in which no
 * more is heard than the echo is silenced, one with near-end speech passes unchanged. Until it is known whether an echo comes
 * back, what may be either's waits for it, and is late rather than lost; from then on there is no delay. Pure: no clock, no I/O.
 */
export class EchoSuppressor {
  readonly #heardRateHz: number
  readonly #sentBands: BandLevels
  readonly #heardBands: BandLevels
  readonly #noise = new NoiseFloor(FLOOR_DB)
  /** Of the loudest sample, while the agent is silent. */
  readonly #noisePeak = new NoiseFloor(AUDIBLE_DB)
  readonly #finder = new EchoPathFinder()
  #sentSlot = Number.NEGATIVE_INFINITY
  #anchors: number[] = []
  /** The earliest of them. */
  #anchorMs = Number.POSITIVE_INFINITY
  #samples = 0
  #frames = 0
  readonly #lingering = new Float32Array(BANDS).fill(FLOOR_DB)
  /** Bit n: n frames ago the caller spoke. */
  #own = 0
  #openFrames = 0
  /** The agent may be heard now. */
  #expected = false
  /** Not known yet whose it is, in order. */
  readonly #held: Piece[] = []
  /** At the end of what was heard. */
  #silentFrames = 0
  /** Something among it is louder than an echo is: the caller speaks, be it over one. */
  #holdsOwn = false

  /** @param sentRateHz of the agent's frames, @param heardRateHz of the caller's samples; 8,000 or more */
  constructor(sentRateHz: number, heardRateHz: number) {
    this.#heardRateHz = heardRateHz
    this.#sentBands = new BandLevels(sentRateHz)
    this.#heardBands = new BandLevels(heardRateHz)
  }

  /** What was learnt of the echo: ms until it is back, and what it loses; undefined: none was heard. */
  get echo(): { delayMs: number; lossDb: number } | undefined {
    const { path } = this.#finder
    if (path === undefined) return undefined
    return { delayMs: path.lag * FRAME_MS, lossDb: -path.gainsDb.reduce((sum, gain) => sum + gain, 0) / BANDS }
  }

  /**
   * Nothing came of what was taken for the caller's voice, or just what the agent said: there may be an echo that was not known for
   * one, and it is looked for again.
   */
  doubt(): void {
    this.#finder.doubt()
  }

  /** Words that are the agent's own may be an echo of it: nothing shows that the line has none. */
  get mayEcho(): boolean {
    return !this.#finder.isClean
  }

  /** A frame of the agent leaves. */
  sent(frame: Int16Array, atMs: number): void {
    for (const levels of this.#sentBands.push(frame)) {
      const slot = Math.floor(atMs / FRAME_MS)
      const next = this.#sentSlot + 1
      this.#sentSlot = Math.abs(next - slot) <= SAME_SPEECH_FRAMES ? next : slot
      this.#finder.sent(this.#sentSlot, levels)
    }
  }

  /** Something is held back that may be the agent's voice, or the caller's. */
  get undecided(): boolean {
    return this.#held.length > 0
  }

  /**
   * The caller's samples, of which the last came at `atMs`. Returns what is decided of all that came, in order, with what is only
   * the agent's voice made silent.
   */
  clean(samples: Int16Array, atMs: number, soundMs = 0): readonly HeardPiece[] {
    const piece = this.#measured(samples, atMs, soundMs)
    const out = this.#finder.known ? this.#releaseKnown() : []
    const verdict = this.#judge(piece)
    if (this.#finder.known) return [...out, given(piece, verdict !== 'echo')]
    // What comes too late for an echo is the caller's, and what went before it perhaps.
    if (verdict === 'unexpected') return [...this.#releaseByLikeness(OF_FRAMES), given(piece, true)]
    const sounds = piece.frames.some(({ slot }) => this.#finder.soundsIn(slot))
    this.#silentFrames = sounds ? 0 : this.#silentFrames + piece.frames.length
    if (this.#held.length === 0 && !sounds) return [given(piece, false)]
    this.#held.push(piece)
    this.#holdsOwn ||= verdict === 'own'
    return this.#decide()
  }

  /** What is held, once it is clear enough whose it is. */
  #decide(): readonly HeardPiece[] {
    const { length } = this.#held
    const isOver = this.#silentFrames >= SOUND_OVER_FRAMES
    if (!isOver && length < (this.#holdsOwn ? MIN_HELD : MAX_HELD)) return []
    if (!this.#heldIsEcho(length, isOver || this.#holdsOwn)) return this.#release(true)
    // More of the agent's speech will tell.
    if (length < MAX_HELD_ALIKE && (this.#holdsOwn || !isOver || this.#agentSpeaks())) return []
    if (isOver && !this.#holdsOwn) return this.#release(false)
    this.#finder.giveUp()
    return this.#release(true)
  }

  #release(heard: boolean): HeardPiece[] {
    this.#holdsOwn = false
    return this.#held.splice(0).map((piece) => given(piece, heard))
  }

  /** Once a tick: nothing is held back for ever, though no packet follows. */
  overdue(nowMs: number): readonly HeardPiece[] {
    const last = this.#held.at(-1)
    return last === undefined || nowMs - last.atMs < OVERDUE_MS ? [] : this.#releaseByLikeness(0)
  }

  #measured(samples: Int16Array, atMs: number, soundMs: number): Piece {
    this.#samples += samples.length
    const countedMs = (this.#samples * 1000) / this.#heardRateHz
    const anchorMs = this.#anchored(atMs - soundMs) + soundMs - countedMs
    const slotNow = () => Math.floor((anchorMs + this.#frames * FRAME_MS) / FRAME_MS)
    const frames: Frame[] = []
    if (!this.#expected && !this.undecided && slotNow() - this.#sentSlot > FORGOTTEN_FRAMES) {
      this.#frames += this.#heardBands.skip(samples)
      const [peakDb = AUDIBLE_DB] = this.#noisePeak.without([peakDbOf(samples)])
      this.#spoke(peakDb > AUDIBLE_DB)
      return { samples, atMs, soundMs, frames }
    }
    for (const whole of this.#heardBands.push(samples)) {
      const levels = this.#noise.without(whole)
      this.#frames++
      const slot = slotNow()
      this.#finder.heard(slot, levels)
      frames.push({ slot, whole, levels })
    }
    return { samples, atMs, soundMs, frames }
  }

  /** What is held, now that it is known what comes back of the agent. */
  #releaseKnown(): HeardPiece[] {
    if (this.#held.length === 0) return []
    this.#own = 0
    this.#holdsOwn = false
    this.#lingering.fill(FLOOR_DB)
    return this.#held.splice(0).map((piece) => given(piece, this.#judge(piece, BEGINNING_LAGS) !== 'echo'))
  }

  /** What is held, while it is not known what comes back: by what it is like, but for the last pieces, which are the caller's. */
  #releaseByLikeness(own: number): HeardPiece[] {
    const doubtful = Math.max(0, this.#held.length - own)
    const isEcho = !this.#holdsOwn && this.#heldIsEcho(doubtful, true)
    this.#holdsOwn = false
    return this.#held.splice(0).map((piece, i) => given(piece, !isEcho || i >= doubtful))
  }

  /** Whether the first so many pieces that are held are like what the agent said. */
  #heldIsEcho(count: number, isOver: boolean): boolean {
    const slots = this.#held
      .slice(0, count)
      .flatMap(({ frames }) => frames.map(({ slot }) => slot))
      .filter((at) => this.#finder.soundsIn(at))
    return slots.length > 0 && this.#finder.resembles(slots[0]!, slots.at(-1)!, isOver)
  }

  /** Of what it says now something may come back yet. */
  #agentSpeaks(): boolean {
    const last = this.#held.at(-1)?.frames.at(-1)?.slot ?? 0
    return last - this.#sentSlot <= STILL_SPEAKS_FRAMES
  }

  /** Monotonic ms at which the line's time 0 would have come without any jitter. */
  #anchored(candidateMs: number): number {
    if (candidateMs - this.#anchorMs > ANCHOR_GAP_MS) {
      this.#anchors = []
      this.#anchorMs = candidateMs
    }
    this.#anchors.push(candidateMs)
    const gone = this.#anchors.length > ANCHOR_PACKETS ? this.#anchors.shift() : undefined
    if (gone === this.#anchorMs) this.#anchorMs = Math.min(...this.#anchors)
    else this.#anchorMs = Math.min(this.#anchorMs, candidateMs)
    return this.#anchorMs
  }

  /** Whose voice it is, as far as levels tell. */
  #judge({ frames }: Piece, soonerLags = 0): 'own' | 'echo' | 'unexpected' {
    for (const frame of frames) {
      this.#expected = this.#expects(frame.slot, soonerLags)
      this.#spoke(this.#isOwn(frame))
    }
    return !this.#expected ? 'unexpected' : this.#openFrames > 0 ? 'own' : 'echo'
  }

  /** A frame more was heard, and whether there is more in it than an echo. */
  #spoke(isOwn: boolean): void {
    this.#own = ((this.#own << 1) | (isOwn ? 1 : 0)) & ((1 << OF_FRAMES) - 1)
    let own = 0
    for (let bits = this.#own; bits !== 0; bits &= bits - 1) own++
    if (own >= OWN_FRAMES) this.#openFrames = OPEN_FRAMES
    else if (this.#openFrames > 0) this.#openFrames--
  }

  /** Whether the agent may be heard now; `#lingering` says how loud. Its delay may have been less by `soonerLags`. */
  #expects(slot: number, soonerLags: number): boolean {
    const { path, known } = this.#finder
    if (known && path === undefined) {
      this.#lingering.fill(FLOOR_DB)
      return false
    }
    let audible = false
    for (let band = 0; band < BANDS; band++) {
      let level = FLOOR_DB
      if (path !== undefined) {
        for (let lag = path.minLag - LAG_TOLERANCE - soonerLags; lag <= path.maxLag + LAG_TOLERANCE; lag++) {
          level = Math.max(level, (this.#finder.sentIn(slot - lag)?.[band] ?? FLOOR_DB) + path.gainsDb[band]!)
        }
      } else {
        for (let lag = 0; lag <= MAX_LAG; lag++) {
          level = Math.max(level, (this.#finder.sentIn(slot - lag)?.[band] ?? FLOOR_DB) + UNKNOWN_GAIN_DB)
        }
      }
      this.#lingering[band] = Math.max(level, this.#lingering[band]! - DECAY_DB)
      if (this.#lingering[band]! > INAUDIBLE_DB) audible = true
    }
    return audible
  }

  #isOwn({ whole, levels }: Frame): boolean {
    let own = 0
    let all = 0
    for (let band = 0; band < BANDS; band++) {
      const level = levels[band]!
      all += 10 ** (whole[band]! / 10)
      if (level > this.#lingering[band]! + MARGIN_DB && level > INAUDIBLE_DB) own += 10 ** (level / 10)
    }
    return own > OWN_SHARE * all
  }
}

function peakDbOf(samples: Int16Array): number {
  let peak = 1
  for (const sample of samples) peak = Math.max(peak, Math.abs(sample))
  return 20 * Math.log10(peak / 0x8000)
}
