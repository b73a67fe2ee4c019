import type { CallEvent } from './events.ts'

/** The workspace event for an event of a call; undefined: not published. Changes of the call's row are published with the row. */
export function workspaceEventOf(event: CallEvent): { type: string; data: Record<string, unknown> } | undefined {
  const place = { seq: event.seq, at: new Date(event.at).toISOString() }
  switch (event.type) {
    case 'turn':
    case 'heard': {
      const { text, start_ms, end_ms } = event
      if (text === '') return undefined
      const role = event.type === 'turn' ? 'user' : 'assistant'
      const interrupted = event.type === 'heard' && event.interrupted
      return { type: 'call.turn', data: { ...place, role, text, start_ms, end_ms, interrupted } }
    }
    case 'tool_called': {
      const { id, name, arguments: given } = event
      return { type: 'call.tool_called', data: { ...place, id, name, arguments: given } }
    }
    case 'tool_returned': {
      const { id, result, ms, error } = event
      return { type: 'call.tool_returned', data: { ...place, id, result, ms, error: error ?? null } }
    }
    case 'transfer_failed':
      return { type: 'call.transfer_failed', data: { ...place, to: event.to, reason: event.reason } }
    case 'transfer_done':
      return { type: 'call.transferred', data: { ...place, to: event.to } }
    case 'handed_off': {
      const { from, to, from_name, to_name, reason, failed = false } = event
      return { type: 'call.handed_off', data: { ...place, from, to, from_name, to_name, reason, failed } }
    }
    case 'fault':
      return { type: 'call.fault', data: { ...place, stage: event.stage, sentence: event.sentence } }
    default:
      return undefined
  }
}
