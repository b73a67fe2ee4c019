import { wantsNoCalls } from '../languages/do-not-call.ts'
import { type ConversationStage, emit, type StageContext } from './stage.ts'

/**
 * Sees that a wish not to be called again is not overheard: the language model hears about it, once. To put the number on the list is
 * the tool's that the model has for it; the words alone do nothing.
 */
export function wishes({ open }: StageContext): ConversationStage {
  const { voicemail, tools = [] } = open.agent
  // Who is dialled has a machine that may pick up.
  const isDialled = voicemail !== undefined
  const tool = tools.find(({ name }) => name === DO_NOT_CALL)
  let told = false
  return {
    name: 'wishes',
    on(report) {
      if (report.type !== 'turn_over' || !isDialled || told || !wantsNoCalls(report.turn.text)) return undefined
      told = true
      const then =
        tool === undefined ? 'Say that you will pass it on, and' : `Call the tool ${tool.name} now, confirm it, and`
      return emit({
        type: 'note',
        role: 'system',
        text: `The callee asks not to be called again. ${then} end the call politely.`,
      })
    },
  }
}

/** The name of the tool by which a campaign's agent puts the callee on the list (api/campaigns/tools.ts). */
const DO_NOT_CALL = 'do_not_call'
