import type { Agent } from '../../data/types.ts'
import { t } from '../../language/t.ts'
import { faultOf } from '../../ui/fault.tsx'
import { Field, Input, Switch, Textarea } from '../../ui/field.tsx'
import { Card } from '../../ui/layout.tsx'
import type { Draft } from './agent.tsx'

type Guardrails = Agent['guardrails']

const GROUNDS = { money: () => t('Amounts'), date: () => t('Dates'), url: () => t('Links') }

/** What is checked in the agent's answers before they are said. */
export function GuardrailsForm({ draft: { agent, change, fault, isReadOnly } }: { draft: Draft }) {
  const { guardrails } = agent
  const { never = [], patterns = [], grounded = [], max_sentences, language = false } = guardrails
  const set = (fields: { [K in keyof Guardrails]?: Guardrails[K] | undefined }) =>
    change({
      guardrails: Object.fromEntries(
        Object.entries({ ...guardrails, ...fields }).filter(([, value]) => value !== undefined),
      ) as Guardrails,
    })
  const ground = (kind: keyof typeof GROUNDS, on: boolean) =>
    set({ grounded: on ? [...grounded, kind] : grounded.filter((one) => one !== kind) })
  return (
    <Card title={t('Guardrails')}>
      <div className="grid gap-4 sm:grid-cols-2">
        <Field
          fault={faultOf(fault, 'guardrails.never')}
          hint={t('Words or phrases, one a line.')}
          label={t('Never says')}
        >
          <Textarea
            defaultValue={never.join('\n')}
            key={agent.agent_id}
            onChange={({ target }) => set({ never: linesOf(target.value) })}
            rows={3}
          />
        </Field>
        <Field
          fault={faultOf(fault, 'guardrails.patterns')}
          hint={t('Regular expressions (RE2), one a line.')}
          label={t('Never says what matches')}
        >
          <Textarea
            className="font-mono text-sm"
            defaultValue={patterns.join('\n')}
            key={agent.agent_id}
            onChange={({ target }) => set({ patterns: linesOf(target.value) })}
            rows={3}
          />
        </Field>
      </div>
      <p className="mt-4 mb-2 text-sm font-medium">{t('Only where the prompt, a tool or a document says them')}</p>
      <div className="flex flex-wrap gap-6">
        {(Object.keys(GROUNDS) as (keyof typeof GROUNDS)[]).map((kind) => (
          <Switch
            checked={grounded.includes(kind)}
            disabled={isReadOnly}
            key={kind}
            label={GROUNDS[kind]()}
            onChange={(on) => ground(kind, on)}
          />
        ))}
      </div>
      <div className="mt-4 grid gap-4 sm:grid-cols-2">
        <Field
          fault={faultOf(fault, 'guardrails.max_sentences')}
          hint={t('The rest of an answer is left out. Empty: no limit.')}
          label={t('Sentences of an answer')}
        >
          <Input
            max={50}
            min={1}
            onChange={({ target }) => set({ max_sentences: target.value === '' ? undefined : Number(target.value) })}
            type="number"
            value={max_sentences ?? ''}
          />
        </Field>
        <Switch
          checked={language}
          disabled={isReadOnly}
          hint={t('An answer in another language is made again.')}
          label={t('Only its own language')}
          onChange={(on) => set({ language: on || undefined })}
        />
      </div>
    </Card>
  )
}

const linesOf = (text: string): string[] | undefined => {
  const lines = text
    .split('\n')
    .map((line) => line.trim())
    .filter(Boolean)
  return lines.length === 0 ? undefined : lines
}
