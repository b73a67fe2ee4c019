import { useState } from 'react'
import type { Agent } from '../../../data/types.ts'
import { t } from '../../../language/t.ts'
import { Button } from '../../../ui/button.tsx'
import { faultOf } from '../../../ui/fault.tsx'
import { Field, Input, Textarea } from '../../../ui/field.tsx'
import { Card } from '../../../ui/layout.tsx'
import type { Draft } from '../agent.tsx'
import { AgentDrawing } from './agent-drawing.tsx'
import { type Step, StepFields } from './step-fields.tsx'

export type Procedure = Agent['procedures'][number]

/** The instructions that the agent's model loads when they fit, with their fixed steps. */
export function ProceduresForm({ draft }: { draft: Draft }) {
  const { agent, change, fault, isReadOnly } = draft
  const { procedures } = agent
  const put = (at: number, procedure: Procedure | undefined) =>
    change({
      procedures: procedures.flatMap((one, i) => (i !== at ? [one] : procedure === undefined ? [] : [procedure])),
    })
  return (
    <Card
      actions={
        !isReadOnly && (
          <Button onClick={() => change({ procedures: [...procedures, newProcedure(procedures)] })} size="sm">
            {t('Add a procedure')}
          </Button>
        )
      }
      title={t('Procedures')}
    >
      {procedures.length === 0 ? (
        <p className="text-sm text-muted">
          {t('Instructions for single matters, which the model loads when they fit.')}
        </p>
      ) : (
        <div className="space-y-4">
          {procedures.map((procedure, at) => (
            <ProcedureFields
              agent={agent}
              fault={(field) => faultOf(fault, `procedures.${at}.${field}`)}
              isReadOnly={isReadOnly}
              // A procedure that another one follows on is edited anew.
              key={`${agent.agent_id}-${at}-${procedures.length}`}
              procedure={procedure}
              put={(next) => put(at, next)}
            />
          ))}
          <AgentDrawing agent={agent} />
        </div>
      )}
    </Card>
  )
}

interface ProcedureFieldsProps {
  agent: Agent
  procedure: Procedure
  isReadOnly: boolean
  fault: (field: string) => string | undefined
  put: (procedure: Procedure | undefined) => void
}

function ProcedureFields({ agent, procedure, isReadOnly, fault, put }: ProcedureFieldsProps) {
  const { name, when, text, tools = [], fixed = [] } = procedure
  const set = (fields: Partial<Procedure>) => put({ ...procedure, ...fields })
  const own = agent.tools.flatMap((tool) => tool.name ?? [])
  return (
    <fieldset aria-label={t('Procedure {name}', { name })} className="rounded-md border border-line p-3">
      <div className="grid gap-4 sm:grid-cols-2">
        <Field fault={fault('name')} label={t('Name of the procedure')}>
          <Input
            className="font-mono text-sm"
            onChange={({ target }) => set({ name: target.value.toLowerCase().replace(/[^a-z0-9_]/g, '_') })}
            value={name}
          />
        </Field>
        <Field fault={fault('when')} label={t('When it fits')}>
          <Input onChange={({ target }) => set({ when: target.value })} value={when} />
        </Field>
      </div>
      <Field className="mt-4" fault={fault('text')} label={t('What the model reads then')}>
        <Textarea onChange={({ target }) => set({ text: target.value })} rows={4} value={text} />
      </Field>
      {own.length > 0 && (
        <div className="mt-4">
          <p className="mb-1 text-sm font-medium">{t('Tools that the model has only then')}</p>
          <div className="flex flex-wrap gap-x-4 gap-y-1">
            {own.map((tool) => (
              <label className="flex items-center gap-1.5 font-mono text-sm" key={tool}>
                <input
                  checked={tools.includes(tool)}
                  onChange={({ target }) =>
                    set({ tools: target.checked ? [...tools, tool] : tools.filter((one) => one !== tool) })
                  }
                  type="checkbox"
                />
                {tool}
              </label>
            ))}
          </div>
        </div>
      )}
      <Steps agent={agent} fault={fault} isReadOnly={isReadOnly} put={(next) => set({ fixed: next })} steps={fixed} />
      {!isReadOnly && (
        <div className="mt-4 flex justify-end">
          <Button onClick={() => put(undefined)} size="sm">
            {t('Remove the procedure')}
          </Button>
        </div>
      )}
    </fieldset>
  )
}

interface StepsProps {
  agent: Agent
  steps: readonly Step[]
  isReadOnly: boolean
  fault: (field: string) => string | undefined
  put: (steps: Step[]) => void
}

/** The fixed steps, in order. */
function Steps({ agent, steps, isReadOnly, fault, put }: StepsProps) {
  /** Steps have no names: their fields are made anew where their order changes. */
  const [round, setRound] = useState(0)
  const reorder = (next: Step[]) => {
    setRound(round + 1)
    put(next)
  }
  return (
    <div className="mt-4">
      <p className="mb-1 text-sm font-medium">{t('Fixed steps, made first and without the model')}</p>
      <ol className="space-y-2">
        {steps.map((step, at) => (
          <StepFields
            agent={agent}
            fault={(field) => fault(`fixed.${at}${field === '' ? '' : `.${field}`}`)}
            isReadOnly={isReadOnly}
            key={`${round}-${at}`}
            moveUp={at === 0 ? undefined : () => reorder(moved(steps, at))}
            number={at + 1}
            put={(next) => put(steps.with(at, next))}
            remove={() => reorder(steps.toSpliced(at, 1))}
            step={step}
          />
        ))}
      </ol>
      {!isReadOnly && steps.length < MAX_STEPS && (
        <Button className="mt-2" onClick={() => put([...steps, { say: '' }])} size="sm">
          {t('Add a step')}
        </Button>
      )}
    </div>
  )
}

const MAX_STEPS = 20

/** The step goes before the one above it. */
function moved(steps: readonly Step[], at: number): Step[] {
  const step = steps[at]
  return step === undefined ? [...steps] : steps.toSpliced(at, 1).toSpliced(at - 1, 0, step)
}

function newProcedure(procedures: readonly Procedure[]): Procedure {
  const taken = new Set(procedures.map(({ name }) => name))
  const names = Array.from({ length: procedures.length + 1 }, (_, i) => `procedure_${i + 1}`)
  return { name: names.find((name) => !taken.has(name)) ?? 'procedure', when: '', text: '' }
}
