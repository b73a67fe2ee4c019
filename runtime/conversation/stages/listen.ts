import type { SoundSpan } from '../../call/link/messages.ts'
import type { Signal, SpokenTurn } from './signal.ts'
import { type ConversationStage, emit, type StageContext } from './stage.ts'
import type { ConversationState } from './state.ts'

/** A "yes" this long before the end of the agent's question answers it; before the end of anything else, this long. */
const ANSWERS_QUESTION_MS = 3_000
const ANSWERS_STATEMENT_MS = 1_000
/** Quiet time after the agent stops before a backchannel counts as an answer. */
const NOTHING_ELSE_MS = 400
/** Words without a turn by then, in silence, were said while nothing could be interrupted. */
const LEFT_OVER_AFTER_MS = 5_000
/** Maximum requests in a row to repeat; further sound without words is taken as noise. */
const MAX_PROMPTS = 2
/** How long STT may be unavailable before the caller hears about it. */
const TELL_DEAF_AFTER_MS = 3_000

/** The agent says nothing of its own. */
const isAlone = ({ muted, takenOver }: ConversationState): boolean => muted || takenOver

/** Parts of one turn, in the order spoken. */
function joined(parts: readonly (SpokenTurn | undefined)[]): SpokenTurn | undefined {
  return parts.reduce((before, part) => {
    if (before === undefined || part === undefined) return part ?? before
    const sound = before.sound && part.sound && { from: before.sound.from, to: part.sound.to }
    return { ...part, text: `${before.text} ${part.text}`, startMs: before.startMs, ...about(sound) }
  }, undefined)
}

const about = (sound: SoundSpan | undefined) => (sound === undefined ? {} : { sound })

/** Logs the caller's words as they come, and makes sure that unheard speech is noticed. */
export function listen({ open, callMs, language }: StageContext): ConversationStage {
  const mayInterrupt = open.agent.interruption?.enabled ?? true
  /** A "yes" over the agent's speech. */
  let kept: SpokenTurn | undefined
  let keptDueMs: number | undefined
  let prompts = 0
  let reportedUnavailable = false
  const toldFaults = new Set<string>()
  /** Words that are of no turn yet. */
  let finals: SpokenTurn | undefined
  let quietSinceMs = 0
  let interim: SpokenTurn | undefined

  const forget = (): void => {
    kept = undefined
    keptDueMs = undefined
  }
  /** The operator's warning is logged once a call. */
  const fault = (sentence: string, code: string): Signal => {
    toldFaults.add(sentence)
    const { provider } = open.agent.stt
    return { type: 'tell', event: { type: 'fault', stage: 'stt', provider, code, sentence } }
  }
  const prompt = (text: string): Signal => {
    return { type: 'say', text, purpose: 'prompt', interruptible: true, remembered: false }
  }

  const onTick = (state: ConversationState, nowMs: number): Signal[] => {
    const { callerSpeaks, agentSpeaks, sttUnavailableSinceMs: unavailableSinceMs } = state
    if (kept !== undefined && keptDueMs !== undefined && nowMs >= keptDueMs && !callerSpeaks) {
      const turn = kept
      forget()
      return [{ type: 'turn_over', turn, kept: true }]
    }
    if (callerSpeaks || agentSpeaks || finals === undefined) quietSinceMs = nowMs
    else if (nowMs - quietSinceMs >= LEFT_OVER_AFTER_MS) {
      const turn = finals
      finals = undefined
      return [{ type: 'turn_over', turn, kept: true }]
    }
    if (unavailableSinceMs === undefined || reportedUnavailable || agentSpeaks || isAlone(state)) return []
    if (nowMs - unavailableSinceMs < TELL_DEAF_AFTER_MS) return []
    reportedUnavailable = true
    return [prompt(language().phrases.cannotHear)]
  }

  return {
    name: 'listen',
    on(report, state, nowMs) {
      switch (report.type) {
        case 'speech_started':
          return emit({ type: 'tell', event: { type: 'speech_started' } })
        case 'speech_ended':
          return emit({ type: 'tell', event: { type: 'speech_ended' } })
        case 'heard_words': {
          const { type: _, final, ...said } = report
          const { text, startMs, endMs, language: of, sound } = said
          prompts = 0
          forget()
          if (final) {
            // A worker that takes a call over has them before its first tick.
            quietSinceMs = nowMs
            finals = joined([finals, said])
            interim = undefined
          } else interim = said
          const times = { start_ms: callMs(startMs), end_ms: callMs(endMs) }
          const event = { type: 'words', text, ...times, final, ...(of === undefined ? {} : { language: of }) } as const
          return emit({ type: 'tell', event, ...about(sound) })
        }
        case 'turn_over':
        case 'caller_turn':
          // What is typed says nothing of what was spoken meanwhile.
          if (report.turn.inputs !== undefined) return undefined
          finals = undefined
          interim = undefined
          forget()
          return undefined
        case 'over_speech': {
          const { type: _, ...turn } = report
          if (state.muted) return undefined
          kept = joined([kept, turn])
          return undefined
        }
        case 'voice_started':
          keptDueMs = undefined
          return undefined
        case 'voice_ended': {
          if (kept === undefined) return undefined
          // Who may not interrupt is answered when the agent has spoken.
          const limitMs = !mayInterrupt
            ? Number.POSITIVE_INFINITY
            : /[?？]["')\]]*\s*$/u.test(report.text)
              ? ANSWERS_QUESTION_MS
              : ANSWERS_STATEMENT_MS
          if (report.interrupted || nowMs - kept.endMs > limitMs) forget()
          else keptDueMs = nowMs + NOTHING_ELSE_MS
          return undefined
        }
        case 'no_words': {
          const { startMs, endMs, reason, message, sound } = report
          const event = { type: 'not_understood', start_ms: callMs(startMs), end_ms: callMs(endMs), reason } as const
          const silent = !state.agentSpeaks && !state.callerSpeaks
          const asks = reason !== 'stt_failed' && !isAlone(state) && silent && prompts < MAX_PROMPTS
          if (asks) prompts++
          const faults: Signal[] = message === undefined || toldFaults.has(message) ? [] : [fault(message, reason)]
          return emit(
            { type: 'tell', event, ...about(sound) },
            ...faults,
            ...(asks ? [prompt(language().phrases.didNotCatch)] : []),
          )
        }
        case 'stt_unavailable':
          if (report.sinceMs === undefined) reportedUnavailable = false
          return undefined
        case 'closing': {
          const turn = joined([kept, finals, interim])
          return turn && emit({ type: 'caller_turn', turn })
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
