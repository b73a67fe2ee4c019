import { randomInt } from 'node:crypto'
import { boundary } from '../../runtime/lib/async/boundary.ts'
import { systemClock } from '../../runtime/lib/clock.ts'
import { PatchbayError } from '../../runtime/lib/errors.ts'
import { encodeG711 } from '../../runtime/media/codecs/g711.ts'
import { Resampler } from '../../runtime/media/dsp/resample.ts'
import { Pacer } from '../../runtime/media/line/pacer.ts'
import type { PluginHost } from '../../runtime/plugin/contract.ts'
import { ESPEAK_SAMPLE_RATE_HZ, espeak } from '../../runtime/plugin-sdk/speech/espeak.ts'
import {
  type Carrier,
  CarrierFault,
  type DialEvents,
  type DialOrder,
} from '../../runtime/plugin-sdk/telephony/carrier.ts'
import { type Lines, RATE_HZ, SimCallee, type Utterance } from './sim-callee.ts'
import { type Behaviour, behaviourOf, type CalleeSettings } from './telephony-behaviour.ts'
import { COUNTRIES, randomNumber } from './telephony-numbers.ts'

const VOICE = 'en-us'
const HELLO = 'Hello.'
const GOODBYE = 'Thanks, goodbye.'
/** Sentences of utterances.json, so that the sim recogniser understands them. */
const QUESTIONS = ['What are your opening hours?', 'How much does delivery cost?']
const MAX_LIVE = 5_000
const MAX_REMEMBERED = 1_000_000

interface Dialled {
  behaviour: Behaviour
  events: DialEvents
  timer: NodeJS.Timeout | undefined
  callee: SimCallee | undefined
  leave: (() => void) | undefined
}

/**
 * A carrier without a network: it rings simulated callees, who speak and listen over real 20 ms packets of μ-law. They
 * live in this process; of a call that another process dialled it knows nothing.
 */
export class SimCarrier implements Carrier {
  readonly #host: PluginHost
  readonly #settings: CalleeSettings
  readonly #questions: readonly string[]
  readonly #live = new Map<string, Dialled>()
  /** How often each number was called. */
  readonly #attempts = new Map<string, number>()
  readonly #pacer: Pacer
  #lines: Promise<Lines> | undefined

  constructor(host: PluginHost, settings: Readonly<Record<string, unknown>>) {
    this.#host = host
    const { questions, ...people } = readSettings(settings.callee)
    this.#settings = people
    this.#questions = questions
    this.#pacer = new Pacer(systemClock, (err) => host.log.error({ err }, 'A simulated callee failed'))
  }

  readonly ownNumbers = true
  readonly numbers = {
    async purchase(wanted: { country: string; areaCode?: string }) {
      const number = randomNumber(wanted, randomInt)
      if (number === undefined) {
        const area = wanted.areaCode === undefined ? '' : ` with area code ${wanted.areaCode}`
        throw new CarrierFault(`no number of ${wanted.country}${area} is for sale; it sells in ${COUNTRIES.join(', ')}`)
      }
      return number
    },
  }

  async dial(order: DialOrder, events: DialEvents, signal: AbortSignal): Promise<void> {
    signal.throwIfAborted()
    if (this.#live.size >= MAX_LIVE) throw refused(`it has ${MAX_LIVE} calls already`)
    if (this.#live.has(order.callId)) throw refused(`call ${order.callId} was dialled before`)
    const attempt = (this.#attempts.get(order.to) ?? 0) + 1
    if (this.#attempts.size >= MAX_REMEMBERED) this.#attempts.clear()
    this.#attempts.set(order.to, attempt)
    const behaviour = behaviourOf(order.to, this.#settings, attempt)
    if (behaviour.answer === 'carrier') throw refused('the number asks for a failing carrier')
    const dialled: Dialled = { behaviour, events, timer: undefined, callee: undefined, leave: undefined }
    this.#live.set(order.callId, dialled)
    // Rendered before it rings, so that pick-up doesn't wait for the program.
    this.#lines ??= this.#render()
    this.#lines.catch(() => {
      this.#lines = undefined
    })
    await this.#lines
    if (!this.#live.has(order.callId)) return
    const rings = behaviour.answer !== 'busy' && behaviour.answer !== 'invalid_number'
    if (rings) setImmediate(boundary('provider', () => this.#live.has(order.callId) && events.ringing()))
    const silent = behaviour.answer === 'no_answer'
    const afterMs = silent ? order.ringTimeoutMs * Math.min(1, this.#settings.timeScale) : behaviour.ringMs
    dialled.timer = setTimeout(
      boundary('provider', () => this.#settle(order.callId)),
      Math.min(afterMs, order.ringTimeoutMs),
    )
  }

  async hangup(callId: string): Promise<void> {
    const dialled = this.#live.get(callId)
    if (dialled === undefined) return
    if (dialled.callee !== undefined) {
      dialled.callee.close()
      return
    }
    clearTimeout(dialled.timer)
    this.#live.delete(callId)
    dialled.events.failed('canceled')
  }

  async lookup(callId: string): Promise<'live' | 'unknown'> {
    return this.#live.has(callId) ? 'live' : 'unknown'
  }

  async close(): Promise<void> {
    for (const callId of [...this.#live.keys()]) await this.hangup(callId)
  }

  /** The phone is picked up, or not. */
  async #settle(callId: string): Promise<void> {
    const dialled = this.#live.get(callId)
    if (dialled === undefined) return
    const { behaviour, events } = dialled
    if (behaviour.answer !== 'human' && behaviour.answer !== 'voicemail') {
      this.#live.delete(callId)
      if (behaviour.answer === 'carrier') events.failed('carrier')
      else events.failed(behaviour.answer)
      return
    }
    const lines = await this.#lines!
    if (!this.#live.has(callId)) return
    const callee = new SimCallee({
      clock: systemClock,
      manner: behaviour.answer === 'voicemail' ? 'silent' : behaviour.manner,
      talkMs: behaviour.talkMs ?? 0,
      lines,
      gone: () => {
        dialled.leave?.()
        this.#live.delete(callId)
      },
    })
    dialled.callee = callee
    dialled.leave = this.#pacer.add((frames, nowMs) => {
      for (let i = 0; i < frames; i++) callee.tick(nowMs)
    })
    events.answered(callee, behaviour.answer === 'voicemail' ? 'machine' : 'human')
  }

  async #render(): Promise<Lines> {
    const said: Utterance[] = []
    // One after the other: to start a program holds up the loop, and with it the calls that run.
    for (const text of [HELLO, GOODBYE, ...this.#questions]) said.push(await this.#speech(text))
    const [hello, goodbye, ...questions] = said
    return { hello: hello!, goodbye: goodbye!, questions }
  }

  async #speech(text: string): Promise<Utterance> {
    const resampler = new Resampler(ESPEAK_SAMPLE_RATE_HZ, RATE_HZ)
    const parts: Uint8Array[] = []
    const { run, signal } = this.#host
    for await (const samples of espeak(run.spawn, text, { voice: VOICE, trimEnd: true }, signal)) {
      parts.push(encodeG711('pcmu', resampler.push(samples)))
    }
    parts.push(encodeG711('pcmu', resampler.flush()))
    return Buffer.concat(parts)
  }
}

/** The option `callee` of plugin.json. */
function readSettings(option: unknown): CalleeSettings & { questions: readonly string[] } {
  const {
    seed = 1,
    timeScale = 1,
    mix = {},
    questions = QUESTIONS,
    population,
  } = (option ?? {}) as Partial<CalleeSettings & { questions: string[] }>
  return { seed, timeScale, mix, questions, ...(population === undefined ? {} : { population }) }
}

function refused(why: string): PatchbayError {
  return new PatchbayError('plugin', { params: { reason: `sim error: ${why}` } })
}
