import type { Signal } from './signal.ts'
import { type ConversationStage, emit, type StageContext } from './stage.ts'

/** Nothing is heard this long after the caller's turn: a filler is got ready, and then spoken. */
const PREPARE_AFTER_MS = 1_500
const FILL_AFTER_MS = 3_000
/** The next filler, after the last was heard. */
const REPEAT_AFTER_MS = 3_500

/** Sees that no caller who waits for the agent waits for long without hearing something. */
export function deadAir({ open, language }: StageContext): ConversationStage {
  const { agent } = open
  const enabled = agent.deadAir?.enabled ?? true
  const own = agent.deadAir?.phrases ?? []
  let waitsSinceMs: number | undefined
  let prepared = 0
  let filled = 0
  let filling = false
  let agentSpeaks = false
  let callerSpeaks = false
  let thinking = false
  let held = open.resume?.held ?? false
  let muted = open.resume?.muted ?? false
  let takenOver = open.resume?.takenOver ?? false

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

  const onTick = (nowMs: number): Signal[] => {
    if (agentSpeaks || callerSpeaks || held || muted || takenOver) {
      over()
      return []
    }
    if (filling && waitsSinceMs !== undefined) waitsSinceMs = nowMs
    else if (thinking) waits(nowMs)
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
    on(report, nowMs) {
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
          if (!callerSpeaks && !agentSpeaks) waits(report.endMs)
          return undefined
        case 'no_words':
        case 'noise':
          over()
          return undefined
        case 'speech_started': {
          callerSpeaks = true
          over()
          if (!filling) return undefined
          filling = false
          return emit({ type: 'stop_filler' })
        }
        case 'speech_ended':
          callerSpeaks = false
          return undefined
        case 'agent_state':
          thinking = report.state === 'thinking'
          return undefined
        case 'voice_started':
          agentSpeaks = true
          over()
          return undefined
        case 'voice_ended':
          agentSpeaks = false
          return undefined
        case 'filler_over':
          filling = false
          return undefined
        case 'input':
          if (report.event.type === 'held' || report.event.type === 'unheld') held = report.event.type === 'held'
          return undefined
        case 'taken_over':
          takenOver = report.on
          if (!takenOver || !filling) return undefined
          filling = false
          return emit({ type: 'stop_filler' })
        case 'muted':
          muted = true
          return undefined
        case 'tick': {
          const signals = onTick(nowMs)
          return signals.length === 0 ? undefined : emit(...signals)
        }
        default:
          return undefined
      }
    },
  }
}
