import type { Signal } from './signal.ts'
import { type ConversationStage, emit, type StageContext } from './stage.ts'
import type { ConversationState } from './state.ts'

/** Nothing is heard this long after the caller's turn: a filler is got ready, and then spoken. */
const PREPARE_AFTER_MS = 1_500
const FILL_AFTER_MS = 3_000
/** The next filler, after the last was heard. */
const REPEAT_AFTER_MS = 3_500

/** Sees that no caller who waits for the agent waits for long without hearing something. */
export function deadAir({ open: { agent }, language }: StageContext): ConversationStage {
  const enabled = agent.deadAir?.enabled ?? true
  const own = agent.deadAir?.phrases ?? []
  let waitsSinceMs: number | undefined
  let prepared = 0
  let filled = 0
  let filling = false

  const waits = (atMs: number): void => {
    waitsSinceMs ??= atMs
  }
  const over = (): void => {
    waitsSinceMs = undefined
    prepared = 0
    filled = 0
  }
  /** The agent's own phrases in turn, or those of its language: one when an answer is late, another from then on. */
  const phrase = (index: number): string => {
    const { oneMoment, stillHere } = language().phrases
    return own.length > 0 ? own[index % own.length]! : index === 0 ? oneMoment : stillHere
  }

  const onTick = (
    { agentState, agentSpeaks, callerSpeaks, held, muted, transferring, takenOver }: ConversationState,
    nowMs: number,
  ): Signal[] => {
    if (agentSpeaks || callerSpeaks || held || muted || transferring || takenOver) {
      over()
      return []
    }
    if (filling && waitsSinceMs !== undefined) waitsSinceMs = nowMs
    else if (agentState === 'thinking') waits(nowMs)
    if (waitsSinceMs === undefined || !enabled) return []
    const waitedMs = nowMs - waitsSinceMs
    if (waitedMs >= (filled === 0 ? FILL_AFTER_MS : REPEAT_AFTER_MS)) {
      const text = phrase(filled++)
      waitsSinceMs = nowMs
      filling = true
      prepared = filled + 1
      return [
        { type: 'tell', event: { type: 'filler', text } },
        { type: 'play_filler', text },
        { type: 'prepare_filler', text: phrase(filled) },
      ]
    }
    if (prepared > filled || waitedMs < PREPARE_AFTER_MS) return []
    prepared = filled + 1
    return [{ type: 'prepare_filler', text: phrase(filled) }]
  }

  return {
    name: 'dead air',
    on(report, state, nowMs) {
      switch (report.type) {
        case 'turn_over':
        case 'awaited':
          waits(nowMs)
          return undefined
        case 'words_overdue':
          waits(report.endMs)
          return undefined
        case 'heard_words':
          // Words, not sounds, are what an answer is owed to.
          if (!state.callerSpeaks && !state.agentSpeaks) waits(report.endMs)
          return undefined
        case 'no_words':
        case 'noise':
          over()
          return undefined
        case 'speech_started':
          over()
          if (!filling) return undefined
          filling = false
          return emit({ type: 'stop_filler' })
        case 'voice_started':
          over()
          return undefined
        case 'filler_over':
          filling = false
          return undefined
        case 'taken_over':
          if (!report.on || !filling) return undefined
          filling = false
          return emit({ type: 'stop_filler' })
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
