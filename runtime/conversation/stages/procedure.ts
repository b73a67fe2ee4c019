import type { FixedStep, Procedure } from '../../call/types/procedure.ts'
import type { Signal, SpokenTurn } from './signal.ts'
import { type ConversationStage, consume, emit, type StageContext, type StageResult } from './stage.ts'

/**
 * Makes the fixed steps of a procedure, in order and without the language model, which goes on behind the last one. What the caller says
 * meanwhile is logged, and answers a question alone. A worker that takes the call over begins with the step that is not done.
 */
export function procedure({ open }: StageContext): ConversationStage {
  const { procedures = [], collect = [] } = open.agent
  const collects = new Set(collect.map(({ name }) => name))
  let running: { id: string; of: Procedure; step: number } | undefined
  /** The question of the running step was said, and its answer is awaited. */
  let asked = false
  /** The caller answered before the question was over. */
  let answer: SpokenTurn | undefined

  const begin = (id: string, name: string, step: number): Signal[] => {
    const of = procedures.find((one) => one.name === name)
    if (of === undefined || of.fixed.length === 0) return []
    running = { id, of, step }
    return make()
  }
  const stepId = (): string => `${running?.id}.${running?.step}`
  const present = (): FixedStep | undefined => running?.of.fixed[running.step]
  const make = (): Signal[] => {
    asked = false
    answer = undefined
    if (running === undefined) return []
    const step = present()
    if (step === undefined) {
      const { name } = running.of
      running = undefined
      return [
        { type: 'tell', event: { type: 'procedure_ended', name } },
        { type: 'awaited' },
        { type: 'continue_reply' },
      ]
    }
    if ('collect' in step) {
      // A version of the agent may lack it.
      if (!collects.has(step.collect)) return done('unknown')
      return [{ type: 'collect', id: stepId(), name: step.collect, insists: true }]
    }
    if ('tool' in step)
      return [{ type: 'awaited' }, { type: 'run_tool', id: stepId(), name: step.tool, arguments: step.arguments }]
    const text = 'say' in step ? step.say : step.ask
    return [{ type: 'say', text, purpose: 'step', interruptible: 'ask' in step, remembered: true }]
  }
  const done = (result?: string): Signal[] => {
    if (running === undefined) return []
    const { of, step } = running
    running = { ...running, step: step + 1 }
    const said = result === undefined ? {} : { result }
    return [{ type: 'tell', event: { type: 'procedure_step', name: of.name, step, ...said } }, ...make()]
  }
  const onTurn = (turn: SpokenTurn): StageResult => {
    const said: Signal[] = [
      { type: 'caller_turn', turn },
      { type: 'note', role: 'user', text: turn.text },
    ]
    const step = present()
    if (step === undefined || !('ask' in step)) return consume(...said)
    if (asked) return consume(...said, ...done(turn.text))
    answer = turn
    return consume(...said, { type: 'interrupt', force: false })
  }

  return {
    name: 'procedure',
    on(report, state) {
      switch (report.type) {
        case 'greeted': {
          const due = open.resume?.procedure
          if (!report.before || due === undefined || state.takenOver) return undefined
          const signals = begin(due.id, due.name, due.step)
          return signals.length === 0 ? undefined : consume(...signals)
        }
        case 'procedure_begun':
          return emit(...begin(report.id, report.name, 0))
        case 'muted':
        case 'taken_over': {
          if (running === undefined) return undefined
          const { name } = running.of
          running = undefined
          return emit({ type: 'tell', event: { type: 'procedure_ended', name } })
        }
        case 'speech_over': {
          const step = present()
          if (report.purpose !== 'step' || step === undefined) return undefined
          if ('say' in step) return emit(...done())
          if (!('ask' in step)) return undefined
          asked = true
          return answer === undefined ? undefined : emit(...done(answer.text))
        }
        case 'tool_over':
          return running === undefined ? undefined : emit(...done(report.output))
        case 'collect_over':
          return running === undefined || report.id !== stepId() ? undefined : emit(...done(report.status))
        case 'turn_over':
          return running === undefined ? undefined : onTurn(report.turn)
        default:
          return undefined
      }
    },
  }
}
