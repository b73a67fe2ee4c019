import type { AgentState, Leg } from '../../call/types/leg.ts'
import { inBackground } from '../../lib/async/boundary.ts'
import type { Clock } from '../../lib/clock.ts'
import { codecFor } from '../../media/codecs/codec.ts'
import { FRAME_MS, samplesPerFrame } from '../../media/frame.ts'
import type { Pacer } from '../../media/line/pacer.ts'
import type { CallerWords, TestCaller } from '../caller.ts'
import type { PhoneLine } from '../schema.ts'
import { CallerSound } from './caller-sound.ts'

/** Mean magnitude over which a frame of the agent is sound. */
const LOUD = 200
/** The agent has said nothing, and done nothing, for so long: it is the caller's turn. */
const TURN_MS = 500
/** An agent that does not answer at all is waited for. */
const PATIENCE_MS = 8_000
const KEY_MS = 200
/** Longer than keys are gathered (keypad.ts). */
const KEYS_OVER_MS = 1_800
/** A telephone sends on, whatever this process does meanwhile; up to so much is made up for at once. */
const MAX_BEHIND_MS = 1_000
/** Something goes round in circles. */
const MAX_TURNS = 300

interface CallerPhoneOptions {
  leg: Leg
  caller: TestCaller
  /** What the words sound like at that rate. */
  soundOf(words: CallerWords, rateHz: number): Promise<Int16Array>
  line: PhoneLine
  pacer: Pacer
  clock: Clock
  /** 0–1 */
  random: () => number
  /** The caller can't go on. */
  failed(error: unknown): void
}

/** A caller at a telephone: hears the agent, speaks when it is their turn or cuts in, presses keys and hangs up. */
export class CallerPhone {
  readonly #options: CallerPhoneOptions
  readonly #sound: CallerSound
  readonly #encode: (samples: Int16Array) => Uint8Array
  readonly #leave: () => void
  #state: { is: AgentState; sinceMs: number }
  /** What the agent said since the caller's last turn. */
  #said = ''
  /** When the agent was last heard, and since when without a pause. */
  #loud: { sinceMs: number; atMs: number } | undefined
  /** The caller thinks, speaks, or waits for something of their own. */
  #acts = false
  #actedMs: number
  /** The agent did something since the caller did. */
  #isAnswered = false
  #turns = 0
  #due: { atMs: number; act: () => void }[] = []
  /** When the microphone's first sample was, and the next one is. */
  readonly #microphone: { readonly startedMs: number; nextMs: number }

  constructor(options: CallerPhoneOptions) {
    const { leg, clock, pacer, line, random } = options
    this.#options = options
    this.#sound = new CallerSound(leg.format.sampleRateHz, line, random)
    const { decode, encode } = codecFor(leg.format)
    this.#encode = encode
    this.#actedMs = clock.monotonicMs()
    this.#microphone = { startedMs: this.#actedMs, nextMs: this.#actedMs }
    this.#state = { is: 'listening', sinceMs: this.#actedMs }
    const ignore = (): void => undefined
    leg.start({
      audio: (bytes) => this.#hear(decode(bytes)),
      ...{ text: ignore, dtmf: ignore, played: ignore, ended: () => this.stop() },
    })
    this.#leave = pacer.add((_, nowMs) => {
      this.#send(nowMs)
      this.#tick(nowMs)
    })
  }

  /** The agent is to say these words. */
  said(text: string): void {
    this.#said = `${this.#said} ${text}`.trim()
    if (this.#loud !== undefined) this.#cutIn(this.#loud.sinceMs)
  }

  agentState(state: AgentState): void {
    if (state !== 'listening') this.#isAnswered = true
    if (state !== this.#state.is) this.#state = { is: state, sinceMs: this.#nowMs }
  }

  stop(): void {
    this.#leave()
    this.#due = []
  }

  get #nowMs(): number {
    return this.#options.clock.monotonicMs()
  }

  #hear(samples: Int16Array): void {
    const nowMs = this.#nowMs
    this.#sound.hear(samples, nowMs - this.#microphone.startedMs)
    if (!isLoud(samples)) return
    const goesOn = this.#loud !== undefined && nowMs - this.#loud.atMs < TURN_MS
    this.#loud = { sinceMs: goesOn ? this.#loud!.sinceMs : nowMs, atMs: nowMs }
    this.#isAnswered = true
    if (!goesOn) this.#cutIn(nowMs)
  }

  /** What the microphone has picked up until now. */
  #send(nowMs: number): void {
    const microphone = this.#microphone
    const lost = nowMs - microphone.nextMs - MAX_BEHIND_MS
    if (lost > 0) microphone.nextMs += lost
    for (; microphone.nextMs + FRAME_MS <= nowMs; microphone.nextMs += FRAME_MS) this.#frame()
  }

  #frame(): void {
    const { leg } = this.#options
    const wasSpeaking = this.#sound.speaks
    leg.sendAudio(this.#encode(this.#sound.next(samplesPerFrame(leg.format.sampleRateHz))))
    if (wasSpeaking && !this.#sound.speaks) this.#done()
  }

  #tick(nowMs: number): void {
    for (const due of this.#due.filter(({ atMs }) => atMs <= nowMs)) {
      this.#due = this.#due.filter((one) => one !== due)
      due.act()
    }
    if (this.#acts || !this.#isTurn(nowMs)) return
    this.#acts = true
    inBackground('call', this.#act().catch(this.#options.failed))
  }

  #isTurn(nowMs: number): boolean {
    if (this.#state.is !== 'listening') return false
    const quietSinceMs = Math.max(this.#state.sinceMs, this.#loud?.atMs ?? 0, this.#actedMs)
    return nowMs - quietSinceMs >= (this.#isAnswered ? TURN_MS : PATIENCE_MS)
  }

  async #act(): Promise<void> {
    const { caller, leg } = this.#options
    if (++this.#turns > MAX_TURNS) {
      throw new Error(`The conversation did not end within ${MAX_TURNS} turns of the caller`)
    }
    const startedMs = this.#nowMs
    const { waitMs, does } = await caller.next(this.#said)
    // The pause in which the agent was listened to is part of it.
    const restMs = startedMs + Math.max(0, waitMs - TURN_MS) - this.#nowMs
    if (does === 'hang_up') this.#later(restMs, () => leg.close('caller_hangup'))
    else if ('say' in does) await this.#say(does, startedMs + Math.max(0, waitMs - TURN_MS))
    else if ('keys' in does) {
      const { keys } = does
      this.#later(restMs, () => leg.sendDtmf?.(keys))
      this.#later(restMs + keys.length * KEY_MS + KEYS_OVER_MS, () => this.#done())
    } else this.#later(restMs + does.silenceMs, () => this.#rested())
  }

  /** A line that cuts in, where there is one for what the agent says now. */
  #cutIn(voiceSinceMs: number): void {
    if (this.#acts || this.#said === '') return
    const line = this.#options.caller.cutIn(this.#said)
    if (line === undefined) return
    this.#acts = true
    inBackground('call', this.#say(line, voiceSinceMs + line.atMs).catch(this.#options.failed))
  }

  async #say(words: CallerWords, atMs: number): Promise<void> {
    const { soundOf, leg } = this.#options
    const samples = await soundOf(words, leg.format.sampleRateHz)
    this.#later(atMs - this.#nowMs, () => {
      this.#said = ''
      this.#sound.say(samples)
    })
  }

  /** The caller has done something, and the agent is waited for. */
  #done(): void {
    this.#acts = false
    this.#actedMs = this.#nowMs
    this.#isAnswered = false
    this.#said = ''
  }

  /** A silence is over; what the agent said meanwhile is heard to its end. */
  #rested(): void {
    this.#acts = false
    this.#isAnswered = true
  }

  #later(delayMs: number, act: () => void): void {
    this.#due.push({ atMs: this.#nowMs + Math.max(0, delayMs), act })
  }
}

function isLoud(samples: Int16Array): boolean {
  let sum = 0
  for (const sample of samples) sum += Math.abs(sample)
  return sum > LOUD * samples.length
}
