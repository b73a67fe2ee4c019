import type { Answerer } from '../../plugin-sdk/telephony/answerer.ts'
import { AnswerDetector } from '../hearing/answer-detector.ts'
import { plain } from '../languages/plain.ts'
import type { Order, Signal } from './signal.ts'
import { type ConversationStage, consume, emit, type StageContext } from './stage.ts'
import type { ConversationState } from './state.ts'

/** Silence after which a machine without a beep is taken to record. */
const SILENCE_MS = 2_000
/** By now a machine records, even if it still plays its greeting. */
const MAX_GREETING_MS = 30_000
/** Some machines beep twice. */
const AFTER_BEEP_MS = 400
/** No human picks up after this. */
const WATCH_MS = 60_000
/** A message that isn't played by then is cut off, for the machine may never say that it is full. */
const MESSAGE_TIMEOUT_MS = 90_000
/** Verdicts that end the detection. */
const SETTLED: ReadonlySet<Answerer> = new Set(['human', 'machine', 'mailbox_full', 'fax'])

/**
 * Who picked up an outbound call, and what the agent does about it. The agent speaks as if it were a human meanwhile: waiting
 * for the verdict would make every human wait.
 */
export function answerer({ open, language }: StageContext): ConversationStage {
  const { agent, resume } = open
  const { voicemail } = agent
  const known = resume?.answeredBy
  let detector: AnswerDetector | undefined
  let startedMs = 0
  /** Since when a machine is waited for to record. */
  let machineAtMs: number | undefined
  let beepAtMs: number | undefined
  let quietFromMs: number | undefined
  let messageUntilMs: number | undefined

  /** A message waits for the notice that the call is recorded; the end of the call for nothing. */
  const mute = (force: true | 'keep_uninterruptible', { muted }: ConversationState): Signal[] =>
    muted ? [] : [{ type: 'tell', event: { type: 'muted' } }, { type: 'muted' }, { type: 'interrupt', force }]

  const judge = (verdict: Answerer | undefined, state: ConversationState, nowMs: number): Signal[] => {
    if (verdict === undefined || voicemail === undefined) return []
    const told: Order = { type: 'tell', event: { type: 'answered_by', by: verdict, source: 'agent' } }
    if (!SETTLED.has(verdict)) return [told]
    if (verdict === 'machine' && voicemail.behaviour === 'leave_message') {
      machineAtMs = nowMs
      return [told, ...mute('keep_uninterruptible', state)]
    }
    detector = undefined
    machineAtMs = undefined
    if (verdict === 'human' || (voicemail.behaviour === 'continue' && verdict !== 'fax')) return [told]
    // A full mailbox and a fax take no message.
    return [told, ...mute(true, state), { type: 'end', reason: 'voicemail' }]
  }

  /** A message that doesn't say that an AI speaks says so at its end, where the agent has to. */
  const withDisclosure = (message: string): string => {
    const { phrases, saysAi } = language()
    if (message === '' || agent.aiDisclosure === undefined || saysAi.test(plain(message))) return message
    return `${message} ${phrases.disclosure}`.trim()
  }
  const leaveMessage = (nowMs: number): Signal[] => {
    machineAtMs = undefined
    detector = undefined
    const text = withDisclosure(voicemail?.message.trim() || agent.firstMessage.trim())
    if (text === '') return [{ type: 'end', reason: 'voicemail' }]
    messageUntilMs = nowMs + MESSAGE_TIMEOUT_MS
    return [{ type: 'say', text, purpose: 'voicemail', interruptible: false, remembered: true }]
  }

  const onTick = (state: ConversationState, nowMs: number): Signal[] => {
    if (messageUntilMs !== undefined) {
      if (nowMs < messageUntilMs) return []
      messageUntilMs = undefined
      return [{ type: 'end', reason: 'voicemail' }]
    }
    if (machineAtMs !== undefined) {
      const beeped = beepAtMs !== undefined && nowMs - beepAtMs >= AFTER_BEEP_MS
      const quiet = quietFromMs !== undefined && nowMs - quietFromMs >= SILENCE_MS
      return beeped || quiet || nowMs - machineAtMs >= MAX_GREETING_MS ? leaveMessage(nowMs) : []
    }
    if (detector === undefined) return []
    const signals = judge(detector.tick(nowMs), state, nowMs)
    if (machineAtMs === undefined && nowMs - startedMs > WATCH_MS) detector = undefined
    return signals
  }

  const begin = ({ muted }: ConversationState, nowMs: number): Signal[] => {
    startedMs = nowMs - open.elapsedMs
    if (voicemail === undefined) return []
    if (muted) {
      // The machine listens still: its message was not left yet, or is left again where it was cut off.
      if (voicemail.behaviour !== 'leave_message') return [{ type: 'end', reason: 'voicemail' }]
      machineAtMs = nowMs
      quietFromMs = nowMs
      return []
    }
    if (known === undefined && open.elapsedMs < WATCH_MS) detector = new AnswerDetector(startedMs)
    return []
  }

  return {
    name: 'answerer',
    on(report, state, nowMs) {
      switch (report.type) {
        case 'begin':
          return emit(...begin(state, nowMs))
        case 'tick':
          return emit(...onTick(state, nowMs))
        case 'speech_started':
          quietFromMs = undefined
          detector?.speechStarted(report.atMs)
          return undefined
        case 'speech_ended':
          quietFromMs = report.atMs
          detector?.speechEnded(report.atMs)
          return undefined
        case 'heard_words':
          // While the agent waits to leave its message, the machine may say that it takes none.
          return emit(...judge(detector?.words(report.text, nowMs), state, nowMs))
        case 'beep':
          beepAtMs = report.atMs
          return machineAtMs === undefined ? emit(...judge(detector?.beep(report.atMs), state, report.atMs)) : undefined
        case 'fax':
          return emit(...judge(detector?.fax(report.atMs), state, report.atMs))
        case 'input':
          if (report.event.type === 'answered_by' && report.event.source === 'carrier') {
            const { by } = report.event
            const known = by === 'human' || by === 'machine' || by === 'fax' ? by : 'unknown'
            return consume(...judge(detector?.carrier(known, nowMs), state, nowMs))
          }
          // A machine sends no input; inputs from before the verdict are not answered.
          return state.muted ? consume() : undefined
        case 'turn_over':
          return state.muted ? consume({ type: 'caller_turn', turn: report.turn }) : undefined
        case 'taken_over':
          // Who talks with the caller knows who they are.
          detector = undefined
          machineAtMs = undefined
          return undefined
        case 'speech_over':
          return report.purpose === 'voicemail' ? emit({ type: 'end', reason: 'voicemail' }) : undefined
        default:
          return undefined
      }
    },
  }
}
