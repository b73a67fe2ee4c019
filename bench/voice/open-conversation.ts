import { pino } from 'pino'
import type { Guardrails } from '../../runtime/call/types/guardrails.ts'
import type { AudioFormat } from '../../runtime/call/types/leg.ts'
import { conversations } from '../../runtime/conversation/conversations.ts'
import { Breakers } from '../../runtime/conversation/providers/breaker.ts'
import type { loadModels } from '../../runtime/conversation/providers/models.ts'
import { Fillers } from '../../runtime/conversation/speaking/fillers.ts'
import { systemClock } from '../../runtime/lib/clock.ts'
import { codecFor } from '../../runtime/media/codecs/codec.ts'
import type { Pacer } from '../../runtime/media/line/pacer.ts'
import { Caller } from './caller.ts'

export interface Subject {
  caller: Caller
  close(): Promise<void>
}

export interface ConversationOptions {
  /** Makes an instance of a kind, by the name the conversation has for it. */
  create(kind: 'stt' | 'llm' | 'tts', name: string): Promise<unknown>
  names: Record<'stt' | 'llm' | 'tts', string>
  models: Awaited<ReturnType<typeof loadModels>>
  pacer: Pacer
  format: AudioFormat
  firstMessage: string
  /** Silence that ends a turn, where it is fixed. */
  endpointingMs?: number | undefined
  guardrails?: Guardrails | undefined
}

const nothing = () => {}

/** A conversation of ours and its caller, who is on the line. */
export async function openConversation(options: ConversationOptions): Promise<Subject> {
  const { create, names, models, pacer, format, firstMessage, endpointingMs, guardrails } = options
  const { encode, decode } = codecFor(format)
  const open = conversations({
    providers: { create } as never,
    breakers: new Breakers(),
    fillers: new Fillers(),
    random: Math.random,
    models,
    pacer,
    clock: systemClock,
    log: pino({ level: 'silent' }),
    observer: { turn: nothing, failure: nothing, audioLost: nothing },
    ...(endpointingMs === undefined ? {} : { fixedSilenceMs: endpointingMs }),
  })
  let caller: Caller | undefined
  const conversation = await open(
    {
      session: 1,
      callId: 'bench',
      format,
      limits: { idleMs: 1e9, maxDurationMs: 1e9 },
      elapsedMs: 0,
      agent: {
        agentId: 'a',
        agentName: 'a',
        systemPrompt: 'You are a test.',
        firstMessage,
        temperature: 0,
        llm: { provider: names.llm, model: '' },
        stt: { provider: names.stt, model: '' },
        tts: { provider: names.tts, voice: '' },
        hasKnowledge: false,
        ...(guardrails === undefined ? {} : { guardrails }),
      },
    },
    {
      sendAudio: (bytes) => caller?.hear(decode(bytes)),
      state: nothing,
      tell: nothing,
      owes: nothing,
      clear: nothing,
      mark: nothing,
      ended: nothing,
      ask: async () => ({ passages: [] }),
    },
  )
  let timestamp = 0
  const one = new Caller(format.sampleRateHz, pacer, (samples) => {
    conversation.audio(encode(samples), timestamp)
    timestamp += samples.length
  })
  caller = one
  return {
    caller: one,
    close: () => {
      one.hangUp()
      return conversation.close('bench')
    },
  }
}
