import type { CallEvent } from '../../call/log/events.ts'
import { type Entry, Keypad } from '../hearing/keypad.ts'
import type { Signal } from './signal.ts'
import { type ConversationStage, consume, emit, type StageContext, type StageResult } from './stage.ts'
import type { ConversationState } from './state.ts'

/** Inputs that wait while something is said to its end; more than a few never do. The oldest goes. */
const MAX_WAITING = 64

/**
 * What the caller types and keys. Each typed turn is a turn of its own; keys are gathered into entries. While something is
 * said to its end they wait, and are answered after it.
 */
export function callerInput({ open }: StageContext): ConversationStage {
  const mayInterrupt = open.agent.interruption?.enabled ?? true
  const keypad = new Keypad()
  let waiting: CallEvent[] = []

  const mustWait = ({ uninterruptible, agentSpeaks }: ConversationState): boolean =>
    uninterruptible || (!mayInterrupt && agentSpeaks)
  const turn = (text: string, inputs: readonly number[], nowMs: number): Signal => {
    return { type: 'turn_over', turn: { text, startMs: nowMs, endMs: nowMs, inputs }, kept: true }
  }
  const keyed = (entry: Entry | undefined, nowMs: number): Signal[] =>
    entry === undefined
      ? []
      : [turn(`[The caller pressed ${[...entry.digits].join(' ')} on the keypad]`, entry.inputs, nowMs)]
  const release = (state: ConversationState): StageResult | undefined => {
    if (mustWait(state) || waiting.length === 0) return undefined
    const all = waiting
    waiting = []
    return emit(...all.map((event): Signal => ({ type: 'input', event })))
  }

  return {
    name: 'caller input',
    on(report, state, nowMs) {
      switch (report.type) {
        case 'uninterruptible':
        case 'voice_ended':
          return release(state)
        case 'input': {
          const { event } = report
          if (event.type !== 'typed' && event.type !== 'key') return undefined
          if (mustWait(state)) {
            waiting = [...waiting, event].slice(-MAX_WAITING)
            return consume()
          }
          if (event.type === 'key') return consume(...keyed(keypad.press(event.digit, event.seq, nowMs), nowMs))
          return event.text.trim() === '' ? consume() : consume(turn(event.text, [event.seq], nowMs))
        }
        case 'tick': {
          if (mustWait(state)) return undefined
          const signals = keyed(keypad.tick(nowMs), nowMs)
          return signals.length === 0 ? undefined : emit(...signals)
        }
        case 'muted':
          waiting = []
          return undefined
        default:
          return undefined
      }
    },
  }
}
