import type { ReactNode } from 'react'
import { formatWord } from '../../../data/format.ts'
import type { Agent } from '../../../data/types.ts'
import { t } from '../../../language/t.ts'
import type { AgentVisit } from './call-path.ts'
import { partsOf, type Step } from './step-fields.tsx'

interface AgentDrawingProps {
  /** Undefined: it is not there any more, and only what it did is drawn. */
  agent: Pick<Agent, 'agent_name' | 'procedures' | 'collect' | 'tools'> | undefined
  /** The way of a call through it; undefined: none is shown. */
  visit?: AgentVisit
}

/** An agent as a drawing: its procedures step by step, the values it collects, the agents it hands callers to. What a call passed is marked. */
export function AgentDrawing({ agent, visit }: AgentDrawingProps) {
  const name = visit?.agentName ?? agent?.agent_name ?? ''
  const collects = namesOf(agent?.collect, visit?.collected)
  const handoffs = agent?.tools.filter(({ type }) => type === 'handoff') ?? []
  const others = visit?.next === undefined ? handoffs.flatMap((tool) => tool.name ?? []) : []
  return (
    <figure aria-label={t('Drawing of {name}', { name })} className="space-y-3 rounded-md bg-sunken p-3 text-sm">
      {namesOf(agent?.procedures, visit?.procedures).map((one) => (
        <ProcedureRow
          key={one}
          name={one}
          steps={agent?.procedures.find((procedure) => procedure.name === one)?.fixed ?? []}
          walked={visit?.procedures.findLast((procedure) => procedure.name === one)}
        />
      ))}
      {collects.length > 0 && (
        <Row label={t('Collects')}>
          {collects.map((one) => {
            const found = visit?.collected.findLast((value) => value.name === one)
            const came = found && (found.value ?? formatWord(found.status))
            return (
              <Node isPassed={found !== undefined} key={one}>
                {came === undefined ? one : `${one}: ${came}`}
              </Node>
            )
          })}
        </Row>
      )}
      {(visit?.next !== undefined || others.length > 0) && (
        <Row label={t('Hands off to')}>
          {visit?.next !== undefined && <Node isPassed>{`${visit.next.name}: ${visit.next.reason}`}</Node>}
          {others.map((one) => (
            <Node isPassed={false} key={one}>
              {one}
            </Node>
          ))}
        </Row>
      )}
      {visit !== undefined && visit.refused > 0 && (
        <Row label={t('Guardrails')}>
          <Node isPassed>{t('{n} refused', { n: visit.refused })}</Node>
        </Row>
      )}
    </figure>
  )
}

interface ProcedureRowProps {
  name: string
  steps: readonly Step[]
  walked: AgentVisit['procedures'][number] | undefined
}

function ProcedureRow({ name, steps, walked }: ProcedureRowProps) {
  const made = walked?.results.length ?? 0
  // A step that was made, and that the agent has no more.
  const lost = Array.from({ length: Math.max(0, made - steps.length) }, () => t('Step'))
  const labels = [...steps.map(partsOf).map(({ label, what }) => `${label}: ${what}`), ...lost]
  return (
    <Row label={t('Procedure {name}', { name })}>
      <Node isPassed={walked !== undefined}>{t('Begins')}</Node>
      {labels.map((label, at) => {
        const result = walked?.results[at] ?? ''
        return (
          <Node follows isPassed={at < made} key={at}>
            {label}
            {result !== '' && <span className="block text-xs text-muted">{result}</span>}
          </Node>
        )
      })}
      <Node follows isPassed={walked !== undefined && (walked.ended || labels.length === 0)}>
        {t('The model goes on')}
      </Node>
    </Row>
  )
}

function Row({ label, children }: { label: string; children: ReactNode }) {
  return (
    <div>
      <p className="mb-1 text-xs text-muted">{label}</p>
      <ul aria-label={label} className="flex flex-wrap items-stretch gap-2">
        {children}
      </ul>
    </div>
  )
}

interface NodeProps {
  isPassed: boolean
  /** An arrow leads to it. */
  follows?: boolean
  children: ReactNode
}

function Node({ isPassed, follows = false, children }: NodeProps) {
  return (
    <li className="flex min-w-0 items-center gap-2">
      {follows && (
        <span aria-hidden="true" className="text-muted">
          →
        </span>
      )}
      <span
        className={`max-w-64 rounded-md border bg-surface px-2 py-1 wrap-anywhere ${
          isPassed ? 'border-accent font-medium' : 'border-line text-muted'
        }`}
      >
        {children}
        {isPassed && <span className="sr-only"> ({t('passed')})</span>}
      </span>
    </li>
  )
}

/** Those of the agent in their order, then those that it has no more. */
function namesOf(own: readonly { name: string }[] = [], walked: readonly { name: string }[] = []): string[] {
  return [...new Set([...own, ...walked].map(({ name }) => name))]
}
