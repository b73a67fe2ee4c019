import type { CallEvent, EventOf } from '../../call/log/events.ts'
import { keyedConsent, readConsent } from '../languages/consent.ts'
import { LANGUAGES } from '../languages/index.ts'
import { plain } from '../languages/plain.ts'
import { restOf } from './rest-of.ts'
import type { Order, Signal, SpokenTurn } from './signal.ts'
import { type ConversationStage, consume, emit, type StageContext, type StageResult } from './stage.ts'

/** An answer that says neither yes nor no is asked for once more. */
const MAX_ASKS = 2
/** How often the question is said again because it was not heard or not understood. */
const MAX_REPEATS = 3
/** Who answers so shortly before the end of the question has heard it. */
const NEARLY_HEARD_MS = 500
/** Words that a worker takes over with the call are turns by then. */
const OWED_MS = 3_000

type Step = EventOf<'greeting'>['step']

/**
 * How a call begins: the notice that it is recorded, to its end; the question whether it may be, until it is answered; the
 * first message; and that an AI speaks. A worker that takes the call over goes on where the greeting stood.
 */
export function greeting({ open, language }: StageContext): ConversationStage {
  const { agent, resume } = open
  const notice = [agent.aiDisclosure === 'before' ? language().phrases.disclosure : '', agent.recordingNotice ?? '']
    .map((text) => text.trim())
    .filter((text) => text !== '')
    .join(' ')
  const question = agent.consentMessage?.trim() ?? ''
  const firstMessage = agent.firstMessage.trim()
  let step: Step | undefined
  /** How often the caller was asked; 0: not asked, or answered. */
  let asks = 0
  let repeats = 0
  /** The question to its question mark: who heard that was asked. */
  const asked = plain(question.slice(0, (lastMark(question) ?? question.length - 1) + 1))
  /** Monotonic milliseconds; undefined: the running question was not heard to its end yet. */
  let questionHeardMs: number | undefined
  let disclosed = agent.aiDisclosure !== 'after'
  /** Until then the words that gave or refused consent may come again: what follows waits for them, or they would cut it off. */
  let owedUntilMs: number | undefined

  const begin = (next: Step): Order => {
    step = next
    return { type: 'tell', event: { type: 'greeting', step: next } }
  }
  const say = (text: string, purpose: 'notice' | 'consent' | 'first_message'): Order => {
    return { type: 'say', text, purpose, interruptible: purpose !== 'notice', remembered: true }
  }
  const askAgain = (): Order[] => {
    questionHeardMs = undefined
    return [begin('consent_asked'), say(question, 'consent')]
  }
  const ask = (): Order[] => {
    asks++
    return askAgain()
  }
  /** Once, whatever cut the first message off. */
  const disclose = (): Order[] => {
    const text = language().phrases.disclosure.trim()
    if (disclosed || text === '') return []
    disclosed = true
    if (resume?.turns.some((turn) => turn.role === 'assistant' && turn.text.includes(text)) === true) return []
    return [say(text, 'notice')]
  }
  const done = (before = false): Signal[] => [...disclose(), begin('done'), { type: 'greeted', before }]
  const greet = (text = firstMessage): Signal[] =>
    text === '' ? done() : [begin('first_message'), say(text, 'first_message')]
  const afterNotice = (): Signal[] => (question === '' ? greet() : ask())

  /** Where the greeting of another worker goes on; nothing where it was over. */
  const goOn = (): Signal[] => {
    if (resume === undefined || (resume.greeting === undefined && resume.turns.length === 0)) {
      return notice === '' ? afterNotice() : [begin('notice'), say(notice, 'notice')]
    }
    const since = resume.turns.slice(resume.greetingFrom ?? 0)
    const last = since.at(-1)
    switch (resume.greeting) {
      case 'notice':
        if (last === undefined || last.interrupted) return [begin('notice'), say(notice, 'notice')]
        return afterNotice()
      case 'consent_asked':
        if (resume.consent !== undefined) return greet()
        // One who was asked and is silent still thinks; one who said something else, or heard half of it, is asked again.
        if (last?.role === 'assistant' && !last.interrupted) {
          asks = 1
          step = 'consent_asked'
          questionHeardMs = Number.NEGATIVE_INFINITY
          return []
        }
        asks = last?.role === 'user' ? 1 : 0
        return ask()
      case 'first_message': {
        const said = since.findLast(({ role, text }) => role === 'assistant' && (question === '' || isOf(text)))
        // A yes that interrupts the question may be reported after the next step has begun.
        const consents = said === undefined && question !== '' && isConsent(last?.text ?? '')
        if (last?.role === 'user' && !consents) return done(true)
        if (said === undefined) return greet()
        if (!said.interrupted) return done(true)
        return isOf(said.text) ? greet(restOf(firstMessage, said.text) ?? '') : greet()
      }
      default:
        step = 'done'
        return [...disclose(), { type: 'greeted', before: true }]
    }
  }
  const read = (text: string) => readConsent(text, language(), LANGUAGES)
  const isConsent = (text: string): boolean => {
    const answer = read(text)
    return answer === 'given' || answer === 'refused'
  }
  const isOf = (text: string): boolean => firstMessage.includes(text.trim())

  /** The caller's words or key answered the question. */
  const answered = (consent: EventOf<'consent'>['consent'], inputs: number[]): Order => {
    asks = 0
    return { type: 'tell', event: { type: 'consent', consent, ...(inputs.length === 0 ? {} : { inputs }) } }
  }

  const heardQuestion = (text: string, atMs: number): void => {
    if (asks > 0 && questionHeardMs === undefined && plain(text).includes(asked)) questionHeardMs = atMs
  }
  /** What is typed answers what can be read; what is said, what was heard. */
  const isEarly = ({ inputs, startMs }: SpokenTurn): boolean =>
    inputs === undefined && (questionHeardMs === undefined || startMs < questionHeardMs - NEARLY_HEARD_MS)

  const onTurn = (turn: SpokenTurn): StageResult | undefined => {
    if (owedUntilMs !== undefined && turn.inputs === undefined) {
      owedUntilMs = undefined
      // What it says is done already: it is only written down.
      if (isConsent(turn.text)) return consume({ type: 'caller_turn', turn }, ...goOn())
      return emit(...done())
    }
    if (asks === 0) return undefined
    const said: Signal = { type: 'caller_turn', turn }
    const cutOff: Order = { type: 'interrupt', force: false }
    const answer = read(turn.text)
    if ((isEarly(turn) || answer === 'not_understood') && repeats < MAX_REPEATS) {
      repeats++
      return consume(said, cutOff, ...askAgain())
    }
    const consent = isEarly(turn) || answer === 'not_understood' ? undefined : answer
    if (consent === undefined && asks < MAX_ASKS) return consume(said, cutOff, ...ask())
    // Who talks of something else wants that answered.
    if (consent === undefined) return emit(answered('unanswered', []), ...done())
    return consume(answered(consent, []), said, cutOff, ...greet())
  }

  const onKey = (event: CallEvent): StageResult | undefined => {
    const consent = event.type !== 'key' || asks === 0 ? undefined : keyedConsent(event.digit)
    if (consent === undefined) return undefined
    return consume(answered(consent, [event.seq]), { type: 'interrupt', force: false }, ...greet())
  }

  return {
    name: 'greeting',
    on(report, state, nowMs) {
      if (state.muted) return undefined
      switch (report.type) {
        case 'begin':
          if (state.takenOver) {
            step = 'done'
            return undefined
          }
          if (resume?.consentOwesTurn !== true) return emit(...goOn())
          owedUntilMs = nowMs + OWED_MS
          return undefined
        case 'tick':
          if (owedUntilMs === undefined || nowMs < owedUntilMs) return undefined
          owedUntilMs = undefined
          return emit(...goOn())
        case 'voice_progress':
          heardQuestion(report.text, report.endMs)
          return undefined
        case 'voice_ended':
          heardQuestion(report.text, report.endMs)
          return undefined
        case 'speech_over':
          if (report.purpose === 'consent' && !report.interrupted) questionHeardMs ??= nowMs
          if (report.purpose === 'notice' && step === 'notice') return emit(...afterNotice())
          if (report.purpose === 'first_message' && step === 'first_message') return emit(...done())
          return undefined
        case 'turn_over': {
          const follows = onTurn(report.turn)
          // Who speaks over the first message has heard enough of it.
          if (follows === undefined && step === 'first_message') return emit(...done())
          return follows
        }
        case 'input':
          return onKey(report.event)
        case 'taken_over':
          // A caller greeted by a supervisor is not greeted again. Consent that was not asked for is not given.
          asks = 0
          return step === undefined || step === 'done' ? undefined : emit(begin('done'))
        default:
          return undefined
      }
    },
  }
}

/** Where the last question mark of a text is. */
function lastMark(text: string): number | undefined {
  const at = Math.max(text.lastIndexOf('?'), text.lastIndexOf('？'))
  return at < 0 ? undefined : at
}
