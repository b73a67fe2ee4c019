import type { OpenSession } from '../../../../../../runtime/call/link/messages.ts'
import type { CallEvent, CallEventBody } from '../../../../../../runtime/call/log/events.ts'
import { stagesOf } from '../../../../../../runtime/call/path.ts'
import { languageOf } from '../../../../../../runtime/conversation/languages/index.ts'
import type { Order, Purpose, Report } from '../../../../../../runtime/conversation/stages/signal.ts'
import { Stages } from '../../../../../../runtime/conversation/stages/stage.ts'
import { initialState } from '../../../../../../runtime/conversation/stages/state.ts'
import { AGENT_SPEC } from '../../../../../support/providers/agent-spec.ts'

type SupervisorDoes =
  | { type: 'whispered' | 'supervisor_said'; text: string }
  | { type: 'took_over' }
  | { type: 'gave_back'; summary?: string }

export type Desk = ReturnType<typeof desk>

/** All stages of a conversation, with a clock moved by hand; what they order is written down. */
export function desk(agent: Partial<OpenSession['agent']> = {}, open: Partial<OpenSession> = {}) {
  let nowMs = open.elapsedMs ?? 0
  let seq = 0
  const did: string[] = []
  const told: CallEventBody[] = []
  const session = {
    session: 1,
    callId: 'c',
    format: { encoding: 'pcmu', sampleRateHz: 8_000 },
    limits: { idleMs: 30_000, maxDurationMs: 600_000 },
    elapsedMs: 0,
    ...open,
    agent: { ...AGENT_SPEC, ...agent },
  } as OpenSession
  const stages = new Stages(
    stagesOf({
      open: session,
      callMs: (atMs) => Math.max(0, atMs),
      language: () => languageOf(session.agent.language),
      tag: () => session.agent.language ?? 'en',
      // Saturday, 28 November 2026, 14:00 UTC.
      nowMs: () => Date.UTC(2026, 10, 28, 14) + nowMs,
    }),
    initialState(session.resume),
    () => nowMs,
    (order) => {
      if (order.type === 'tell' || order.type === 'collected') told.push(order.event)
      did.push(wordsOf(order))
    },
  )
  const report = (one: Report) => stages.report(one)
  return {
    did,
    told,
    report,
    now: () => nowMs,
    /** What was ordered since last asked, without what is told live. */
    take: () => did.splice(0).filter((one) => !one.startsWith('(')),
    pass(ms: number) {
      for (let i = 0; i < ms / 20; i++) {
        nowMs += 20
        report({ type: 'tick' })
      }
    },
    /** The machine does nothing for so long. */
    standStill(ms: number) {
      nowMs += ms
      report({ type: 'tick' })
    },
    key(digit: string) {
      const event: CallEvent = { type: 'key', digit, seq: seq++, at: 0 }
      return report({ type: 'input', event })
    },
    type(text: string) {
      const event: CallEvent = { type: 'typed', text, seq: seq++, at: 0 }
      return report({ type: 'input', event })
    },
    /** A supervisor does something; returns its place in the log. */
    supervise(body: SupervisorDoes) {
      const event: CallEvent = { ...body, who: { id: 'u', name: 'Sue' }, seq: seq++, at: 0 }
      report({ type: 'input', event })
      return event.seq
    },
    /** The caller says something, and its turn is over. */
    says(text: string) {
      report({ type: 'speech_started', atMs: nowMs })
      report({ type: 'heard_words', text, final: true, startMs: nowMs, endMs: nowMs })
      report({ type: 'speech_ended', atMs: nowMs })
      return report({ type: 'turn_over', turn: { text, startMs: nowMs, endMs: nowMs }, kept: false })
    },
    /** The agent says something to its end, or until it is cut off. */
    speaks(text: string, purpose: Purpose = 'reply', { interrupted = false, hangsUp = false } = {}) {
      const startMs = nowMs
      report({ type: 'voice_started', purpose })
      report({ type: 'audible', atMs: nowMs, purpose })
      report({ type: 'voice_ended', text, startMs, endMs: nowMs, interrupted })
      report({ type: 'speech_over', purpose, interrupted, hangsUp })
    },
    /** What is said to its end is over. */
    over(purpose: Purpose) {
      report({ type: 'speech_over', purpose, interrupted: false, hangsUp: false })
      report({ type: 'uninterruptible', on: false })
    },
  }
}

function wordsOf(order: Order): string {
  switch (order.type) {
    case 'tell': {
      const { event } = order
      if (event.type === 'greeting') return `greeting: ${event.step}`
      if (event.type === 'consent')
        return `consent: ${event.consent}${event.inputs === undefined ? '' : ` by ${event.inputs}`}`
      if (event.type === 'turn') return `turn: ${event.text}${event.inputs === undefined ? '' : ` by ${event.inputs}`}`
      if (event.type === 'answered_by') return `answered by: ${event.by}`
      if (event.type === 'inputs_taken') return `takes ${event.inputs}`
      if (event.type === 'muted' || event.type === 'not_understood') return event.type
      return `(${event.type})`
    }
    case 'say':
      return `${order.interruptible ? 'says' : 'says to the end'}: ${order.text}`
    case 'answer':
      return `answers: ${order.text}`
    case 'continue_reply':
      return order.instructions === undefined ? 'answers' : 'finishes'
    case 'play_filler':
      return `fills: ${order.text}`
    case 'prepare_filler':
      return '(prepares)'
    case 'interrupt':
      if (order.force === 'keep_uninterruptible') return 'stops, unless to the end'
      return order.force ? 'stops all' : 'stops'
    case 'end':
      return `ends: ${order.reason}${order.error === undefined ? '' : `, ${order.error}`}`
    case 'suppress_output':
      return order.on ? 'falls silent' : 'may speak'
    case 'note':
      return `${order.role === 'user' ? 'remembers' : 'is told'}: ${order.text}`
    case 'run_tool':
      return `runs ${order.id}: ${order.name}(${JSON.stringify(order.arguments)})`
    case 'stop_filler':
      return 'hushes'
    case 'collecting':
      return `(${order.state === undefined ? 'listens' : `waits for ${order.state.item.name}`})`
    case 'collected': {
      const { name, status, value } = order.event
      const kept = order.secret === undefined ? '' : ` keeps ${order.secret.value}`
      return `${status}: ${name}${value === undefined ? '' : ` ${value}`}${kept}${order.continues ? ', answers' : ''}`
    }
  }
}
