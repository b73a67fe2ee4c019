import { setTimeout as sleep } from 'node:timers/promises'
import { pino } from 'pino'
import type { LinkedConversation, SessionPort } from '../../../../../runtime/call/link/linked-conversation.ts'
import type { AskMethods, OpenSession, Owed, SoundSpan } from '../../../../../runtime/call/link/messages.ts'
import type { CallEventBody } from '../../../../../runtime/call/log/events.ts'
import type { Turn } from '../../../../../runtime/call/log/resume.ts'
import type { AgentState } from '../../../../../runtime/call/types/leg.ts'
import type { SessionEndReason } from '../../../../../runtime/call/types/outcome.ts'
import type { TurnLatency } from '../../../../../runtime/call/types/usage.ts'
import type { ConversationObserver } from '../../../../../runtime/conversation/conversation.ts'
import { conversations } from '../../../../../runtime/conversation/conversations.ts'
import { Breakers } from '../../../../../runtime/conversation/providers/breaker.ts'
import { type LocalModels, loadModels } from '../../../../../runtime/conversation/providers/models.ts'
import { Fillers } from '../../../../../runtime/conversation/speaking/fillers.ts'
import { systemClock } from '../../../../../runtime/lib/clock.ts'
import { bytesOf, samplesOf } from '../../../../../runtime/media/frame.ts'
import { Pacer } from '../../../../../runtime/media/line/pacer.ts'
import type { Answerer, Consent } from '../../../../../runtime/plugin-sdk/telephony/answerer.ts'
import { AGENT_SPEC } from '../../../../support/providers/agent-spec.ts'
import { fallbacksOf, sourceOf, type TestProviders } from './providers.ts'
import { lineNoise } from './speech.ts'

export const RATE_HZ = 16_000
const FRAME = RATE_HZ / 50
/** Samples of a call that was running before: twenty seconds. */
export const AHEAD = 20 * RATE_HZ

let models: Promise<LocalModels> | undefined
export const sharedModels = (): Promise<LocalModels> => {
  models ??= loadModels('silent')
  return models
}
export const pacer = new Pacer(systemClock, (error) => {
  throw error
})

function turnOf(
  role: Turn['role'],
  event: { text: string; start_ms: number; end_ms: number; interrupted?: boolean },
): Turn {
  const { text, start_ms: startMs, end_ms: endMs, interrupted = false } = event
  return { role, text, startMs, endMs, interrupted }
}

/** The session's end of a conversation: keeps everything it is told. */
export class RecordingPort implements SessionPort {
  readonly states: AgentState[] = []
  readonly words: { turn: Turn; final: boolean }[] = []
  readonly events: CallEventBody[] = []
  readonly turns: { turn: Turn; latency: TurnLatency | undefined }[] = []
  /** What was heard of running turns. */
  readonly heardTurns: Turn[] = []
  readonly marks: number[] = []
  readonly used = { seconds: 0, input_tokens: 0, output_tokens: 0, characters: 0 }
  readonly audioAtMs: number[] = []
  readonly endings: { reason: SessionEndReason; error: string | undefined }[] = []
  readonly asked: string[] = []
  readonly faults: string[] = []
  readonly tools: AskMethods['tool']['params'][] = []
  /** Tool calls after which the agent said that it has said all. */
  readonly handedOff: string[] = []
  readonly secrets: AskMethods['secret']['params'][] = []
  runTool: (name: string, input: Record<string, unknown>) => string | Promise<string> = () => ''
  clears = 0
  loudFrames = 0
  passages: AskMethods['knowledge']['result']['passages'] = []
  readonly latencies: TurnLatency[] = []
  /** Of the running answer. */
  #latency: TurnLatency | undefined
  #changed = Promise.withResolvers<void>()

  onAudio: ((bytes: Uint8Array) => void) | undefined
  onClear: (() => void) | undefined

  sendAudio(bytes: Uint8Array): void {
    this.onAudio?.(bytes)
    this.audioAtMs.push(performance.now())
    if (samplesOf(bytes).some((sample) => Math.abs(sample) > 500)) this.loudFrames++
    this.#change()
  }
  state(state: AgentState): void {
    this.states.push(state)
    this.#change()
  }
  readonly answerers: Answerer[] = []
  readonly consents: Consent[] = []
  /** What of the caller's sound the events are about, in their order. */
  readonly sounds: (SoundSpan | undefined)[] = []
  tell(event: CallEventBody, sound?: SoundSpan): void {
    this.events.push(event)
    this.sounds.push(sound)
    switch (event.type) {
      case 'words':
        this.words.push({ turn: turnOf('user', event), final: event.final })
        break
      case 'turn':
        this.turns.push({ turn: turnOf('user', event), latency: undefined })
        break
      case 'heard':
        if (event.final) {
          this.turns.push({ turn: turnOf('assistant', event), latency: this.#latency })
          this.#latency = undefined
        } else {
          this.heardTurns.push(turnOf('assistant', event))
        }
        break
      case 'latency': {
        const { endpointing_ms, stt_ms, llm_ms: llmMs, tts_ms: ttsMs, total_ms: totalMs } = event
        this.#latency = { endpointingMs: endpointing_ms + stt_ms, llmMs, ttsMs, totalMs }
        this.latencies.push(this.#latency)
        break
      }
      case 'answered_by':
        this.answerers.push(event.by)
        break
      case 'consent':
        this.consents.push(event.consent)
        break
      case 'usage':
        for (const name of ['seconds', 'input_tokens', 'output_tokens', 'characters'] as const) {
          this.used[name] += event[name] ?? 0
        }
        break
      case 'fault':
        this.faults.push(event.sentence)
    }
    this.#change()
  }
  /** What would be lost with the worker, each time it said so. */
  readonly owed: Owed[] = []
  owes(owed: Owed): void {
    this.owed.push(owed)
    this.#change()
  }
  clear(): void {
    this.clears++
    this.onClear?.()
    this.#change()
  }
  mark(id: number): void {
    this.marks.push(id)
    this.#change()
  }
  ended(reason: SessionEndReason, error?: string): void {
    this.endings.push({ reason, error })
    this.#change()
  }
  async ask<M extends keyof AskMethods>(_method: M, params: AskMethods[M]['params']): Promise<AskMethods[M]['result']> {
    if ('query' in params) {
      this.asked.push(params.query)
      return { passages: this.passages } as AskMethods[M]['result']
    }
    if ('value' in params) {
      this.secrets.push(params)
      return {} as AskMethods[M]['result']
    }
    if (!('name' in params)) {
      this.handedOff.push(params.id)
      return {} as AskMethods[M]['result']
    }
    this.tools.push(params)
    return { output: await this.runTool(params.name, params.arguments) } as AskMethods[M]['result']
  }

  /** Waits until something is true of what was told. */
  async until(what: string, test: () => boolean, timeoutMs = 120_000): Promise<void> {
    const deadlineMs = performance.now() + timeoutMs
    while (!test()) {
      const leftMs = deadlineMs - performance.now()
      if (leftMs <= 0)
        throw new Error(`waited in vain until ${what}: ${JSON.stringify({ ...this, audioAtMs: undefined })}`)
      const abort = new AbortController()
      await Promise.race([
        this.#changed.promise,
        sleep(Math.min(leftMs, 100), undefined, { signal: abort.signal }).catch(() => {}),
      ])
      abort.abort()
    }
  }

  /** The texts of all turns, in order, with `!` behind those that were cut off. */
  get said(): string[] {
    return this.turns.map(({ turn }) => `${turn.role}: ${turn.text}${turn.interrupted ? '!' : ''}`)
  }

  #change(): void {
    this.#changed.resolve()
    this.#changed = Promise.withResolvers<void>()
  }
}

export interface Call {
  port: RecordingPort
  conversation: LinkedConversation
  turnsMeasured: TurnLatency[]
  failures: string[]
  /** Of the caller's sound, what was not heard. */
  lost: { where: string; ms: number }[]
  /** The caller types a turn, or presses a key. */
  type(text: string): void
  press(digit: string): void
  /** Puts samples on the line; resolves when the last of them was sent. */
  say(samples: Int16Array): Promise<void>
  hangUp(): Promise<void>
}

export interface CallOptions {
  /** One each, or several of a stage: the agent names them in this order. */
  providers: TestProviders
  open?: Partial<OpenSession>
  agent?: Partial<OpenSession['agent']>
  /** Shared with other calls. */
  breakers?: Breakers
  /** What is to be known of the session's end before the conversation begins. */
  prepare?: (port: RecordingPort) => void
  /** The line's audio begins after this much was given at once. */
  startsAhead?: boolean
  /** The line is dead until then. */
  lineFrom?: Promise<void>
  /** What clocks on the wall show; default: the time. */
  nowMs?: () => number
  /** Adds what else is on the line to a frame of it. */
  line?: (frame: Int16Array) => void
}

/** A call with real audio at the pace of speech: line noise, and over it what the caller says. */
export async function call({
  providers,
  open,
  agent,
  breakers,
  prepare,
  line,
  startsAhead,
  lineFrom,
  nowMs = systemClock.nowMs,
}: CallOptions): Promise<Call> {
  const port = new RecordingPort()
  prepare?.(port)
  const turnsMeasured: TurnLatency[] = []
  const failures: string[] = []
  const lost: { where: string; ms: number }[] = []
  const observer: ConversationObserver = {
    turn: (latency) => turnsMeasured.push(latency),
    failure: (stage) => failures.push(stage),
    audioLost: (where, ms) => lost.push({ where, ms }),
  }
  const openConversation = conversations({
    providers: sourceOf(providers),
    breakers: breakers ?? new Breakers(),
    fillers: new Fillers(),
    random: Math.random,
    models: await sharedModels(),
    pacer,
    clock: { nowMs, monotonicMs: systemClock.monotonicMs },
    log: pino({ level: process.env.TEST_LOG ?? 'silent' }),
    observer,
  })
  const conversation = await openConversation(
    {
      session: 1,
      callId: 'call',
      format: { encoding: 'pcm_s16le', sampleRateHz: RATE_HZ },
      limits: { idleMs: 60_000, maxDurationMs: 600_000 },
      elapsedMs: 0,
      ...open,
      agent: {
        ...AGENT_SPEC,
        // A machine that stands still for seconds would have every answer begin with a filler.
        deadAir: { enabled: false, phrases: [] },
        fallbacks: fallbacksOf(providers),
        ...agent,
      },
    },
    port,
  )
  let waiting: { samples: Int16Array; done: () => void } | undefined
  let at = 0
  let timestamp = startsAhead === true ? AHEAD : 0
  let dead = lineFrom !== undefined
  void lineFrom?.then(() => {
    dead = false
  })
  const leave = pacer.add((frames) => {
    if (dead) return
    for (let i = 0; i < frames; i++) {
      const frame = lineNoise(FRAME)
      if (waiting !== undefined) {
        const piece = waiting.samples.subarray(at, at + FRAME)
        for (let k = 0; k < piece.length; k++) frame[k] = piece[k]!
        at += FRAME
        if (at >= waiting.samples.length) {
          waiting.done()
          waiting = undefined
        }
      }
      line?.(frame)
      conversation.audio(bytesOf(frame), timestamp)
      timestamp += FRAME
    }
  })
  let seq = 0
  const input = (body: CallEventBody): void => conversation.input({ ...body, seq: seq++, at: Date.now() })
  return {
    port,
    conversation,
    type: (text) => input({ type: 'typed', text }),
    press: (digit) => input({ type: 'key', digit }),
    turnsMeasured,
    failures,
    lost,
    say: (samples) =>
      new Promise((resolve) => {
        at = 0
        waiting = { samples, done: resolve }
      }),
    hangUp: async () => {
      leave()
      await conversation.close('caller_hangup')
    },
  }
}
