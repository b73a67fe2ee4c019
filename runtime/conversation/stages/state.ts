import type { Resume } from '../../call/log/resume.ts'
import type { AgentState } from '../../call/types/leg.ts'
import type { Report } from './signal.ts'

/** What is true of a conversation now. */
export interface ConversationState {
  readonly agentState: AgentState
  /** The agent's voice is on the line. */
  readonly agentSpeaks: boolean
  readonly callerSpeaks: boolean
  /** What is said can't be cut off. */
  readonly uninterruptible: boolean
  /** The caller has put the agent on hold. */
  readonly held: boolean
  /** A machine has the call: the agent doesn't answer. */
  readonly muted: boolean
  /** The caller is being led to another person. */
  readonly transferring: boolean
  /** A supervisor talks with the caller. */
  readonly takenOver: boolean
  /** Since when no recogniser is available. */
  readonly sttUnavailableSinceMs: number | undefined
}

export function initialState(resume: Resume | undefined): ConversationState {
  return {
    agentState: 'listening',
    agentSpeaks: false,
    callerSpeaks: false,
    uninterruptible: false,
    held: resume?.held ?? false,
    muted: resume?.muted ?? false,
    transferring: false,
    takenOver: resume?.takenOver ?? false,
    sttUnavailableSinceMs: undefined,
  }
}

/** The state after a report. */
export function foldReport(state: ConversationState, report: Report): ConversationState {
  switch (report.type) {
    case 'agent_state':
      return { ...state, agentState: report.state }
    case 'voice_started':
      return { ...state, agentSpeaks: true }
    case 'voice_ended':
    case 'closing':
      return { ...state, agentSpeaks: false }
    case 'speech_started':
      return { ...state, callerSpeaks: true }
    case 'speech_ended':
      return { ...state, callerSpeaks: false }
    case 'uninterruptible':
      return { ...state, uninterruptible: report.on }
    case 'input': {
      const { type } = report.event
      return type === 'held' || type === 'unheld' ? { ...state, held: type === 'held' } : state
    }
    case 'muted':
      return { ...state, muted: true }
    case 'transferring':
      return { ...state, transferring: report.on }
    case 'taken_over':
      return { ...state, takenOver: report.on }
    case 'stt_unavailable':
      return { ...state, sttUnavailableSinceMs: report.sinceMs }
    default:
      return state
  }
}
