import { LatencyMeter } from '../latency.ts'
import { restOf } from './rest-of.ts'
import type { Report, Signal } from './signal.ts'
import { type ConversationStage, emit, type StageContext } from './stage.ts'

/** So many turns without an answer in a row end the call. */
const MAX_UNANSWERED = 3
/** Maximum wait for the goodbye before the call ends without it. */
const GOODBYE_TIMEOUT_MS = 8_000
/** An apology that nobody heard is tried again after so long, and counts then: a voice that is away for some seconds ends no call. */
const APOLOGY_RETRY_MS = 4_000
type Unanswered = Extract<Report, { type: 'unanswered' }>

const GO_ON = 'Your last words were cut off by a fault of the line. Finish what you were saying from there.'

/**
 * Has each turn of the caller answered, once, and keeps count of those that could not be: a worker that takes the call over
 * answers what the one before left open.
 */
export function think({ open, callMs, language }: StageContext): ConversationStage {
  const { resume } = open
  const latency = new LatencyMeter()
  let resumed = resume === undefined || resume.muted || resume.takenOver
  /** No more is heard of the caller, and it is the supervisor's call yet. */
  let sttFailure: Unanswered | undefined
  let unanswered = 0
  /** The running turn was counted as unanswered. */
  let counted = false
  /** The apology that could not be said. */
  let unheard: { failure: Unanswered; retryAtMs: number } | undefined
  /** Goodbye is being said; nothing is answered any more. */
  let ending: { why: string; untilMs: number } | undefined

  /** What another worker had the words of already. */
  const say = (text: string): Signal => {
    return { type: 'say', text, purpose: 'reply', interruptible: true, remembered: true }
  }
  const goOn = (nowMs: number): Signal[] => {
    if (resumed || resume === undefined) return []
    resumed = true
    // The value that was being collected is asked for again.
    if (resume.collecting !== undefined) return []
    const { turns, tools, owesReply = false } = resume
    const last = turns.at(-1)
    // An answer that waits for a tool is more than the words it began with.
    const asked = turns.findLastIndex(({ role }) => role === 'user') + 1
    const said = tools.some(({ turn }) => turn >= asked) ? undefined : resume.said
    if (last?.role === 'user') {
      // The caller has been waiting since then, whichever worker answers.
      latency.turnCommitted(nowMs - (callMs(nowMs) - last.endMs), nowMs)
      return [{ type: 'awaited' }, said === undefined ? { type: 'continue_reply' } : say(said)]
    }
    // The call was handed to the agent: the caller waits for its first words.
    if (owesReply) return [{ type: 'awaited' }, said === undefined ? { type: 'continue_reply' } : say(said)]
    if (last?.interrupted !== true) return []
    const rest = said === undefined ? undefined : restOf(said, last.text)
    return [{ type: 'awaited' }, rest === undefined ? { type: 'continue_reply', instructions: GO_ON } : say(rest)]
  }

  const failed = (failure: Unanswered, nowMs: number): Signal[] => {
    if (ending !== undefined) return []
    if (failure.purpose === 'apology') {
      unheard ??= { failure, retryAtMs: nowMs + APOLOGY_RETRY_MS }
      return []
    }
    // A reply is one failure, however many attempts were made; what fails besides it is another.
    if (!counted || failure.purpose !== 'reply') unanswered++
    counted = true
    return apologise(failure, nowMs)
  }
  const apologise = ({ stage, why, hopeless }: Unanswered, nowMs: number): Signal[] => {
    const { goodbye, sayAgain } = language().phrases
    // Another attempt can't help where the key or the account is the reason.
    if (hopeless || unanswered >= MAX_UNANSWERED) {
      const times = unanswered > 1 ? ` ${unanswered} times` : ''
      ending = {
        why: `The ${stage} provider failed${times}${why === undefined ? '' : `: ${why}`}`,
        untilMs: nowMs + GOODBYE_TIMEOUT_MS,
      }
      return [
        { type: 'interrupt', force: false },
        { type: 'say', text: goodbye, purpose: 'goodbye', interruptible: false, remembered: false },
      ]
    }
    return [{ type: 'say', text: sayAgain, purpose: 'apology', interruptible: true, remembered: false }]
  }
  const retryApology = (nowMs: number): Signal[] => {
    if (unheard === undefined || ending !== undefined || nowMs < unheard.retryAtMs) return []
    const { failure } = unheard
    unheard = undefined
    unanswered++
    return apologise(failure, nowMs)
  }
  const end = (): Signal[] => (ending === undefined ? [] : [{ type: 'end', reason: 'error', error: ending.why }])

  return {
    name: 'think',
    on(report, state, nowMs) {
      switch (report.type) {
        case 'greeted':
          if (report.before) return emit(...goOn(nowMs))
          resumed = true
          return undefined
        case 'turn_over': {
          const { turn, kept } = report
          if (ending !== undefined) return emit({ type: 'caller_turn', turn })
          resumed = true
          counted = false
          unheard = undefined
          const said: Signal = { type: 'caller_turn', turn }
          return kept ? emit(said, { type: 'answer', text: turn.text, spoken: turn.inputs === undefined }) : emit(said)
        }
        case 'caller_turn':
          // Also one that another stage took: the answer behind it is measured from its end.
          latency.turnCommitted(report.turn.endMs, nowMs)
          return undefined
        case 'heard_words':
          if (report.final) latency.words(nowMs)
          return undefined
        case 'agent_state':
          return report.state === 'thinking' ? emit({ type: 'tell', event: { type: 'thinking' } }) : undefined
        case 'first_text':
          latency.firstText(report.atMs)
          return undefined
        case 'audible': {
          unheard = undefined
          if (report.purpose !== 'reply') return undefined
          unanswered = 0
          counted = false
          const measured = latency.audible(report.atMs)
          return measured === undefined ? undefined : emit({ type: 'tell', event: { type: 'latency', ...measured } })
        }
        case 'unanswered':
          if (!state.takenOver) return emit(...failed(report, nowMs))
          if (report.stage === 'stt') sttFailure = report
          return undefined
        case 'taken_over':
          resumed = true
          unanswered = 0
          ending = undefined
          return report.on || sttFailure === undefined ? undefined : emit(...failed(sttFailure, nowMs))
        case 'speech_over':
          return report.purpose === 'goodbye' ? emit(...end()) : undefined
        case 'tick':
          return emit(...(ending !== undefined && nowMs >= ending.untilMs ? end() : retryApology(nowMs)))
        default:
          return undefined
      }
    },
  }
}
