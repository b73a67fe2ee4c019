import { setTimeout as sleep } from 'node:timers/promises'
import { pino } from 'pino'
import { systemClock } from '../../../../runtime/clock.ts'
import type { ConversationObserver } from '../../../../runtime/conversation/agent-session.ts'
import { Breakers } from '../../../../runtime/conversation/breaker.ts'
import type { Conversation, SessionPort } from '../../../../runtime/conversation/contract.ts'
import { conversations } from '../../../../runtime/conversation/conversations.ts'
import { Fillers } from '../../../../runtime/conversation/fillers.ts'
import { type LocalModels, loadModels } from '../../../../runtime/conversation/models.ts'
import type {
  AskMethods,
  OpenSession,
  SessionEndReason,
  Turn,
  TurnLatency,
  Usage,
} from '../../../../runtime/link/messages.ts'
import { bytesOf, samplesOf } from '../../../../runtime/media/frame.ts'
import { Pacer } from '../../../../runtime/media/pacer.ts'
import type { AgentState } from '../../../../runtime/session/leg.ts'
import type { Answerer, Consent } from '../../../../runtime/telephony/answerer.ts'
import { AGENT_SPEC } from '../../../support/agent-spec.ts'
import { fallbacksOf, sourceOf, type TestProviders } from './providers.ts'
import { lineNoise } from './speech.ts'

export const RATE_HZ = 16_000
const FRAME = RATE_HZ / 50

let models: Promise<LocalModels> | undefined
export const sharedModels = (): Promise<LocalModels> => {
  models ??= loadModels('silent')
  return models
}
export const pacer = new Pacer(systemClock, (error) => {
  throw error
})

/** The session's end of a conversation: keeps everything it is told. */
export class RecordingPort implements SessionPort {
  readonly states: AgentState[] = []
  readonly words: { turn: Turn; final: boolean }[] = []
  readonly turns: { seq: number; turn: Turn; latency: TurnLatency | undefined }[] = []
  readonly heardTurns: { seq: number; turn: Turn }[] = []
  readonly marks: number[] = []
  readonly usages: Usage[] = []
  readonly audioAtMs: number[] = []
  readonly endings: { reason: SessionEndReason; error: string | undefined }[] = []
  readonly asked: string[] = []
  readonly faults: string[] = []
  readonly tools: AskMethods['tool']['params'][] = []
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
  transcript(turn: Turn, final: boolean): void {
    this.words.push({ turn, final })
    this.#change()
  }
  turn(seq: number, turn: Turn): void {
    const latency = turn.role === 'assistant' ? this.#latency : undefined
    if (latency !== undefined) this.#latency = undefined
    this.turns.push({ seq, turn, latency })
    this.#change()
  }
  latency(latency: TurnLatency): void {
    this.latencies.push(latency)
    this.#latency = latency
    this.#change()
  }
  readonly answerers: Answerer[] = []
  readonly consents: Consent[] = []
  answeredBy(by: Answerer): void {
    this.answerers.push(by)
    this.#change()
  }
  consent(consent: Consent): void {
    this.consents.push(consent)
    this.#change()
  }
  heard(seq: number, turn: Turn): void {
    this.heardTurns.push({ seq, turn })
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
  usage(usage: Usage): void {
    this.usages.push(usage)
    this.#change()
  }
  fault(message: string): void {
    this.faults.push(message)
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
    this.tools.push(params)
    return { output: await this.runTool(params.name, params.arguments) } as AskMethods[M]['result']
  }

  /** Waits until something is true of what was told. */
  async until(what: string, test: () => boolean, timeoutMs = 20_000): Promise<void> {
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
  conversation: Conversation
  turnsMeasured: TurnLatency[]
  failures: string[]
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
  /** In place of the end-of-turn model. */
  endOfTurn?: LocalModels['endOfTurn']
}

/** A call with real audio at the pace of speech: line noise, and over it what the caller says. */
export async function call({ providers, open, agent, endOfTurn, breakers }: CallOptions): Promise<Call> {
  const port = new RecordingPort()
  const turnsMeasured: TurnLatency[] = []
  const failures: string[] = []
  const observer: ConversationObserver = {
    turn: (latency) => turnsMeasured.push(latency),
    failure: (stage) => failures.push(stage),
  }
  const openConversation = conversations({
    providers: sourceOf(providers),
    breakers: breakers ?? new Breakers(),
    fillers: new Fillers(),
    random: Math.random,
    models: { ...(await sharedModels()), ...(endOfTurn === undefined ? {} : { endOfTurn }) },
    pacer,
    clock: systemClock,
    log: pino({ level: process.env.TEST_LOG ?? 'silent' }),
    observer,
  })
  const conversation = await openConversation(
    {
      session: 1,
      callId: 'call',
      format: { encoding: 'pcm_s16le', sampleRateHz: RATE_HZ },
      limits: { idleMs: 60_000, maxDurationMs: 600_000 },
      history: [],
      elapsedMs: 0,
      ...open,
      agent: {
        ...AGENT_SPEC,
        fallbacks: fallbacksOf(providers),
        ...agent,
      },
    },
    port,
  )
  let waiting: { samples: Int16Array; done: () => void } | undefined
  let at = 0
  let timestamp = 0
  const leave = pacer.add((frames) => {
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
      conversation.audio(bytesOf(frame), timestamp)
      timestamp += FRAME
    }
  })
  return {
    port,
    conversation,
    turnsMeasured,
    failures,
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
