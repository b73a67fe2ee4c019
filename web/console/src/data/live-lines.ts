import { said, t } from '../language/t.ts'
import { formatInner } from './format.ts'
import type { CallEvent } from './types.ts'

/** What is shown of a running call: words of both, and what somebody did. */
export interface LiveLine {
  readonly kind: 'user' | 'assistant' | 'note'
  readonly text: string
  /** Words that are not may still change. */
  readonly final: boolean
  /** Of the caller's words, those that will not change any more. */
  readonly settled?: string
  /** Of words that are over: their place among the turns of the call. */
  readonly turn?: number
}

/** The types of event that are shown. */
export const LIVE_LINE_TYPES = [
  'words',
  'turn',
  'transcribed',
  'heard',
  'tool_called',
  'handed_off',
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
    case 'transcribed':
      return lines.map((line) => (line.turn === event.turn ? { ...line, text: event.text } : line))
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
  const before = lines.findLast(({ turn }) => turn !== undefined)?.turn ?? -1
  const placed = line.final ? { ...line, turn: before + 1 } : line
  return at === -1 ? [...lines, placed].slice(-MAX_LINES) : lines.with(at, placed)
}

function noteOf(event: CallEvent): string | undefined {
  switch (event.type) {
    case 'tool_called':
      return t('The agent uses {name}', { name: event.name })
    case 'handed_off':
      return event.failed
        ? t('{from} could not take the call: {to} has it', { from: event.from_name, to: event.to_name })
        : t('{from} hands the call to {to}: {reason}', {
            from: event.from_name,
            to: event.to_name,
            reason: event.reason,
          })
    case 'transfer_started':
      return event.who
        ? t('{name} transfers the call to {to}', { name: event.who.name, to: event.to })
        : t('The agent transfers the call to {to}', { to: event.to })
    case 'transfer_done':
      return t('Transferred to {to}', { to: event.to })
    case 'transfer_failed':
      return t('{to} was not reached: {reason}', { to: event.to, reason: event.reason })
    case 'supervisor_joined':
      return t('{name} listens', { name: event.who.name })
    case 'whispered':
      return t('{name} whispered to the agent: {text}', { name: event.who.name, text: event.text })
    case 'supervisor_said':
      return t('{name} has the agent say: {text}', { name: event.who.name, text: event.text })
    case 'took_over':
      return t('{name} took the call over', { name: event.who.name })
    case 'gave_back':
      return event.summary
        ? t('{name} gave the call back: {summary}', { name: event.who.name, summary: event.summary })
        : t('{name} gave the call back', { name: event.who.name })
    case 'left':
      return t('{name} left', { name: event.who.name })
    case 'hung_up':
      return t('{name} ended the call', { name: event.who.name })
    case 'fault':
      return said(event.sentence)
    case 'ended':
      return t('The call is over: {why}', { why: formatInner(event.end_reason) })
    default:
      return undefined
  }
}
