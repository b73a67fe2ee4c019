import type { EventOf } from '../../call/log/events.ts'
import type { Signal, SpokenTurn } from './signal.ts'
import { type ConversationStage, emit, type StageContext } from './stage.ts'

/** Turns of the caller that wait for the agent's running one to be closed; more than a few never do. */
const MAX_WAITING_TURNS = 16

/**
 * Logs who said what, in the order spoken: the heard part of the agent's running turn is reported while it is played, and
 * a caller's turn that interrupts it is reported after the heard part.
 */
export function speak({ callMs }: StageContext): ConversationStage {
  let waiting: SpokenTurn[] = []

  const tellTurn = ({ text, startMs, endMs, language, inputs = [], sound }: SpokenTurn): Signal => {
    const event: EventOf<'turn'> = {
      type: 'turn',
      text,
      start_ms: callMs(startMs),
      end_ms: callMs(endMs),
      ...(language === undefined ? {} : { language }),
      ...(inputs.length === 0 ? {} : { inputs: [...inputs] }),
    }
    return { type: 'tell', event, ...(sound === undefined ? {} : { sound }) }
  }
  const heard = (
    said: { text: string; startMs: number; endMs: number },
    interrupted: boolean,
    final: boolean,
  ): Signal => {
    const times = { start_ms: callMs(said.startMs), end_ms: callMs(said.endMs) }
    return { type: 'tell', event: { type: 'heard', text: said.text, ...times, interrupted, final } }
  }
  const release = (): Signal[] => {
    const turns = waiting
    waiting = []
    return turns.map(tellTurn)
  }

  return {
    name: 'speak',
    on(report, { agentSpeaks }) {
      switch (report.type) {
        case 'voice_progress':
          return agentSpeaks && report.text !== '' ? emit(heard(report, false, false)) : undefined
        case 'voice_ended':
          return emit(...(report.text === '' ? [] : [heard(report, report.interrupted, true)]), ...release())
        case 'caller_turn':
          if (!agentSpeaks) return emit(tellTurn(report.turn))
          if (waiting.length < MAX_WAITING_TURNS) waiting.push(report.turn)
          return undefined
        case 'closing':
          return emit(...release())
        default:
          return undefined
      }
    },
  }
}
