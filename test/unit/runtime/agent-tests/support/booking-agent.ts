import { pino } from 'pino'
import type { RunTestDeps } from '../../../../../runtime/agent-tests/run-test.ts'
import type { Prices } from '../../../../../runtime/call/cost.ts'
import type { AgentSpec, ToolSpec } from '../../../../../runtime/call/types/agent-spec.ts'
import type { Clock } from '../../../../../runtime/lib/clock.ts'
import type { PluginRegistry } from '../../../../../runtime/plugin/host.ts'
import type { ChatRequest, LlmEvent } from '../../../../../runtime/plugin-sdk/chat/chat-request.ts'
import { EventLLM } from '../../../../../runtime/plugin-sdk/chat/event-llm.ts'
import { AGENT_SPEC } from '../../../../support/providers/agent-spec.ts'

/** What a language model does in one request. */
export interface Said {
  text?: string
  call?: { name: string; arguments: Record<string, unknown> }
  /** Called besides. */
  calls?: { name: string; arguments: Record<string, unknown> }[]
}
export type Model = (messages: ChatRequest['messages'], clock: HandClock) => Said | Promise<Said>

/** Moved by the models alone, so that what they take is exact. */
export class HandClock implements Clock {
  #nowMs = 0
  nowMs = () => this.#nowMs
  monotonicMs = () => this.#nowMs
  advance(ms: number): void {
    this.#nowMs += ms
  }
}

const tool = (name: string, kind: ToolSpec['kind'] = 'http'): ToolSpec => ({
  name,
  description: name,
  parameters: { type: 'object', properties: {} },
  kind,
})

export const BOOKING_AGENT: AgentSpec = {
  ...AGENT_SPEC,
  systemPrompt: 'You take bookings. A table costs 20 euros.',
  firstMessage: 'Good evening, this is Harbour House.',
  tools: [tool('book'), tool('cancel'), tool('reception', 'transfer'), tool('bye', 'hang_up')],
}

export const textOf = (messages: ChatRequest['messages'], role: 'user' | 'tool_result'): string => {
  const last = messages.at(-1) as { role: string; content?: string } | undefined
  return last?.role === role ? String(last.content ?? '') : ''
}

/** The agent as it should be: repeats what is wanted, books once, says what it costs, and hangs up. */
export const goodAgent: Model = (messages) => {
  const returned = textOf(messages, 'tool_result')
  if (returned !== '') return { text: 'Your table for four on Monday is booked. It costs 20 euros.' }
  const asked = textOf(messages, 'user')
  if (/sunday/i.test(asked)) return { text: 'A table for four on Sunday, is that right?' }
  if (/monday/i.test(asked)) return { text: 'A table for four on Monday, is that right?' }
  if (/^yes/i.test(asked)) return { call: { name: 'book', arguments: { day: 'monday', seats: 4 } } }
  if (/bye/i.test(asked)) return { text: 'Goodbye!', call: { name: 'bye', arguments: {} } }
  return { text: 'Sorry, what would you like?' }
}

/** What a run of a test needs, with this language model in place of a provider's. */
export function depsWith(model: Model, other: Partial<RunTestDeps> = {}): RunTestDeps {
  const clock = new HandClock()
  const plugins = {
    plugins: [],
    keys: { of: () => ({}) },
    titleOf: (name: string) => name,
    create: async () =>
      new EventLLM({
        provider: 'test',
        identity: { title: 'The test model' },
        model: 'test',
        temperature: undefined,
        async *chat({ messages }): AsyncGenerator<LlmEvent> {
          const { text, call, calls = [] } = await model(messages, clock)
          if (text !== undefined) yield { type: 'text', text }
          for (const one of call === undefined ? calls : [call, ...calls]) {
            yield {
              type: 'tool_call',
              id: `c${Math.random()}`,
              name: one.name,
              arguments: JSON.stringify(one.arguments),
            }
          }
          yield { type: 'usage', inputTokens: 100, outputTokens: 10 }
        },
      }),
  } as unknown as PluginRegistry
  const prices: Prices = {
    costOf: (_choices, usage) => ({ llmUsd: usage.llmInputTokens / 1e6, sttUsd: 0, ttsUsd: usage.ttsCharacters / 1e6 }),
    priceOf: () => null,
    platformUsdPerMinute: () => 0,
  }
  return {
    agent: BOOKING_AGENT,
    limits: { idleMs: 30_000, maxDurationMs: 600_000 },
    startsAtMs: Date.UTC(2026, 2, 29, 9, 30),
    plugins,
    prices,
    realClock: clock,
    soundRoom: () => Promise.reject(new Error('This test is in text')),
    recordedSound: () => Promise.reject(new Error('This test is in text')),
    signal: new AbortController().signal,
    log: pino({ level: 'silent' }),
    ...other,
  }
}
