import { endpointingDelay, weighWords } from '../hearing/endpointing.ts'
import { type ConversationStage, emit, type StageContext } from './stage.ts'

/** How long a silence must last to end the caller's turn: the surer the model and the words, the shorter. */
export function endpoint({ open, language, endpointingDelayMs }: StageContext): ConversationStage {
  const delayMs = endpointingDelayMs ?? endpointingDelay(open.agent.endpointing)
  return {
    name: 'endpoint',
    on(report) {
      if (report.type !== 'paused') return undefined
      const probability = weighWords(report.probability, report.text, language())
      return emit({ type: 'end_turn', atMs: report.endMs + delayMs(probability) })
    },
  }
}
