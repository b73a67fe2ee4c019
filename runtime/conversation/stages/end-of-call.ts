import type { Signal } from './signal.ts'
import { type ConversationStage, emit, type StageContext } from './stage.ts'
import type { ConversationState } from './state.ts'

/** Callers who may be silent for less than this are not asked whether they are still there. */
const MIN_ASKED_IDLE_MS = 4_000

/** The end of shorter calls is not announced. */
const MIN_ANNOUNCED_MS = 20_000
/** So long before its longest time is over the caller is told, or a quarter of it. */
const ANNOUNCED_BEFORE_MS = 15_000
/** What the agent is saying then is heard to its end, if that is not later. */
const LAST_WORDS_MS = 8_000

/** The idle timer is paused while STT is down, on hold, taken over or talking to voicemail. */
const isIdlePaused = ({ agentState, sttUnavailableSinceMs, ...state }: ConversationState): boolean =>
  agentState !== 'listening' ||
  sttUnavailableSinceMs !== undefined ||
  state.agentSpeaks ||
  state.callerSpeaks ||
  state.held ||
  state.muted ||
  state.takenOver

/**
 * Ends a call: when it lasts too long, which is announced, when the agent hangs up, and when the caller stays silent, after the caller was
 * asked once whether they are still there.
 */
export function endOfCall({ open, callMs, language }: StageContext): ConversationStage {
  const { idleMs, maxDurationMs } = open.limits
  let idleSinceMs: number | undefined
  /** Asked since the caller was last heard of. */
  let asked = false
  /** The caller's last turn was answered with at least a sound. */
  let replied = false
  let hangsUp = false
  const announceAtMs = maxDurationMs - Math.min(ANNOUNCED_BEFORE_MS, maxDurationMs / 4)
  /** Another worker has said that the call ends soon. */
  let announced = maxDurationMs < MIN_ANNOUNCED_MS || open.elapsedMs >= announceAtMs

  const active = (): void => {
    idleSinceMs = undefined
    asked = false
  }
  const hangUp: Signal = { type: 'end', reason: 'agent_hangup' }

  const onTick = (state: ConversationState, nowMs: number): Signal[] => {
    const overMs = callMs(nowMs) - maxDurationMs
    if (overMs >= (state.agentSpeaks ? LAST_WORDS_MS : 0)) return [{ type: 'end', reason: 'max_duration' }]
    if (!announced && callMs(nowMs) >= announceAtMs) {
      announced = true
      // Nobody but a caller of the agent's is told.
      if (state.muted || state.takenOver || state.transferring) return []
      const text = language().phrases.almostOver
      return [{ type: 'say', text, purpose: 'prompt', interruptible: true, remembered: true }]
    }
    if (isIdlePaused(state)) {
      idleSinceMs = undefined
      return []
    }
    idleSinceMs ??= nowMs
    const silentMs = nowMs - idleSinceMs
    const asks = idleMs >= MIN_ASKED_IDLE_MS
    // Half before the question, half after it.
    if (silentMs < (asks ? idleMs / 2 : idleMs)) return []
    if (!asks || asked) return [{ type: 'end', reason: 'idle' }]
    asked = true
    idleSinceMs = nowMs
    const text = language().phrases.stillThere
    return [{ type: 'say', text, purpose: 'prompt', interruptible: true, remembered: true }]
  }

  return {
    name: 'end of call',
    on(report, state, nowMs) {
      switch (report.type) {
        case 'speech_started':
        // Soft speech that no voice activity is seen in is heard by its words.
        case 'heard_words':
          active()
          return undefined
        case 'input':
          if (report.event.type !== 'held' && report.event.type !== 'unheld') active()
          return undefined
        case 'turn_over':
          replied = false
          return undefined
        case 'audible':
          if (report.purpose === 'reply') replied = true
          return undefined
        case 'taken_over':
          hangsUp = false
          active()
          return undefined
        case 'speech_over': {
          if (report.purpose === 'goodbye') return hangsUp ? emit(hangUp) : undefined
          // One who speaks up keeps the call.
          if (!report.hangsUp || report.interrupted) return undefined
          if (replied) return emit(hangUp)
          hangsUp = true
          const text = language().phrases.bye
          return emit({ type: 'say', text, purpose: 'goodbye', interruptible: false, remembered: false })
        }
        case 'tick': {
          const signals = onTick(state, nowMs)
          return signals.length === 0 ? undefined : emit(...signals)
        }
        default:
          return undefined
      }
    },
  }
}
