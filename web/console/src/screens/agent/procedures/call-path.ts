/** What one agent did in a call, as the log has it. */
export interface AgentVisit {
  readonly agentId: string
  readonly agentName: string
  /** `results` are of the fixed steps that were made, by their place; empty where a step brings none. */
  readonly procedures: readonly {
    readonly name: string
    readonly results: readonly string[]
    readonly ended: boolean
  }[]
  readonly collected: readonly { readonly name: string; readonly status: string; readonly value?: string }[]
  /** Sentences that guardrails refused. */
  readonly refused: number
  /** The agent that had the call next, and why. */
  readonly next?: { readonly name: string; readonly reason: string }
}

interface LoggedEvent {
  readonly type: string
  readonly [field: string]: unknown
}

/** The agents of a call in order, with what each did beside talking. `first`: the agent that answered. */
export function callPath(events: readonly LoggedEvent[], first: { id: string; name: string }): AgentVisit[] {
  const visits = [visitOf(first.id, first.name)]
  for (const event of events) {
    const at = visits.length - 1
    const visit = visits[at]!
    const text = (field: string): string => String(event[field] ?? '')
    switch (event.type) {
      case 'procedure_begun':
        visits[at] = { ...visit, procedures: [...visit.procedures, { name: text('name'), results: [], ended: false }] }
        break
      case 'procedure_step':
      case 'procedure_ended': {
        const place = visit.procedures.findLastIndex(({ name }) => name === text('name'))
        const procedure = visit.procedures[place]
        if (procedure === undefined) break
        const results = event.type === 'procedure_step' ? [...procedure.results, text('result')] : procedure.results
        const ended = event.type === 'procedure_ended'
        visits[at] = { ...visit, procedures: visit.procedures.with(place, { ...procedure, results, ended }) }
        break
      }
      case 'collected': {
        const value = event.value === undefined ? {} : { value: text('value') }
        visits[at] = {
          ...visit,
          collected: [...visit.collected, { name: text('name'), status: text('status'), ...value }],
        }
        break
      }
      case 'guarded':
        visits[at] = { ...visit, refused: visit.refused + 1 }
        break
      case 'handed_off':
        visits[at] = { ...visit, next: { name: text('to_name'), reason: text('reason') } }
        visits.push(visitOf(text('to'), text('to_name')))
        break
    }
  }
  return visits
}

const visitOf = (agentId: string, agentName: string): AgentVisit => {
  return { agentId, agentName, procedures: [], collected: [], refused: 0 }
}

/** There is more to draw than that one agent talked. */
export const isWorthDrawing = (visits: readonly AgentVisit[]): boolean =>
  visits.length > 1 ||
  visits.some(({ procedures, collected, refused }) => procedures.length + collected.length + refused > 0)
