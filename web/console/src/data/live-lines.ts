import { formatWord } from './format.ts'
import type { CallEvent } from './types.ts'

/** What is shown of a running call: words of both, and what somebody did. */
export interface LiveLine {
  readonly kind: 'user' | 'assistant' | 'note'
  readonly text: string
  /** Words that are not may still change. */
  readonly final: boolean
  /** Of the caller's words, those that will not change any more. */
  readonly settled?: string
}

/** The types of event that are shown. */
export const LIVE_LINE_TYPES = [
  'words',
  'turn',
  'heard',
  'tool_called',
  'transfer_started',
  'transfer_done',
  'transfer_failed',
  'supervisor_joined',
  'whispered',
  'supervisor_said',
  'took_over',
  'gave_back',
  'left',
  'hung_up',
  'fault',
  'ended',
] as const satisfies readonly CallEvent['type'][]

const MAX_LINES = 500

/** The lines once this has happened, too. */
export function withEvent(lines: readonly LiveLine[], event: CallEvent): readonly LiveLine[] {
  switch (event.type) {
    case 'words': {
      const settled = openLine(lines, 'user')?.settled ?? ''
      const text = `${settled} ${event.text}`.trim()
      return withLine(lines, { kind: 'user', text, final: false, settled: event.final ? text : settled })
    }
    case 'turn':
      return withLine(lines, { kind: 'user', text: event.text, final: true })
    case 'heard':
      return withLine(lines, { kind: 'assistant', text: event.text, final: event.final })
    default: {
      const text = noteOf(event)
      return text === undefined ? lines : [...lines, { kind: 'note' as const, text, final: true }].slice(-MAX_LINES)
    }
  }
}

const openLine = (lines: readonly LiveLine[], kind: LiveLine['kind']) =>
  lines.findLast((line) => line.kind === kind && !line.final)

/** Words that may change give way to the next of their speaker; nothing heard is no line. */
function withLine(lines: readonly LiveLine[], line: LiveLine): readonly LiveLine[] {
  const at = lines.findLastIndex(({ kind, final }) => kind === line.kind && !final)
  if (line.text === '') return at === -1 ? lines : lines.toSpliced(at, 1)
  return at === -1 ? [...lines, line].slice(-MAX_LINES) : lines.with(at, line)
}

function noteOf(event: CallEvent): string | undefined {
  switch (event.type) {
    case 'tool_called':
      return `The agent uses ${event.name}`
    case 'transfer_started':
      return `${event.who ? event.who.name : 'The agent'} transfers the call to ${event.to}`
    case 'transfer_done':
      return `Transferred to ${event.to}`
    case 'transfer_failed':
      return `${event.to} was not reached: ${event.reason}`
    case 'supervisor_joined':
      return `${event.who.name} listens`
    case 'whispered':
      return `${event.who.name} whispered to the agent: ${event.text}`
    case 'supervisor_said':
      return `${event.who.name} has the agent say: ${event.text}`
    case 'took_over':
      return `${event.who.name} took the call over`
    case 'gave_back':
      return `${event.who.name} gave the call back${event.summary ? `: ${event.summary}` : ''}`
    case 'left':
      return `${event.who.name} left`
    case 'hung_up':
      return `${event.who.name} ended the call`
    case 'fault':
      return event.sentence
    case 'ended':
      return `The call is over: ${formatWord(event.end_reason).toLowerCase()}`
    default:
      return undefined
  }
}
