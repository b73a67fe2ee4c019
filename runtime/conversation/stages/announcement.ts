import { type ConversationStage, consume, emit, type StageContext } from './stage.ts'

/** Maximum wait for the voice: end the call rather than play silence. */
const MAX_MS = 30_000

/**
 * A call in which something is said and nothing is asked: the first message is spoken to its end, and the agent hangs up. What
 * the callee says meanwhile is logged and not answered.
 */
export function announcement({ open, callMs }: StageContext): ConversationStage {
  const text = open.agent.firstMessage.trim()
  return {
    name: 'announcement',
    on(report, _state, nowMs) {
      if (open.announcement !== true) return undefined
      switch (report.type) {
        case 'begin':
          if (text === '') return consume({ type: 'end', reason: 'agent_hangup' })
          return consume({ type: 'say', text, purpose: 'notice', interruptible: false, remembered: true })
        case 'speech_over':
        case 'unanswered':
          if (report.purpose !== 'notice') return undefined
          return consume({ type: 'end', reason: 'agent_hangup' })
        case 'tick':
          return callMs(nowMs) < MAX_MS ? consume() : consume({ type: 'end', reason: 'agent_hangup' })
        case 'turn_over':
          return consume({ type: 'caller_turn', turn: report.turn })
        case 'input':
          return consume()
        default:
          return emit()
      }
    },
  }
}
