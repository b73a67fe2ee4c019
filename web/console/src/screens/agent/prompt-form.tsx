import { t } from '../../language/t.ts'
import { faultOf } from '../../ui/fault.tsx'
import { Field, Input, Textarea } from '../../ui/field.tsx'
import type { Draft } from './agent.tsx'

export function PromptForm({ draft: { agent, change, fault, isReadOnly } }: { draft: Draft }) {
  return (
    <fieldset className="space-y-5" disabled={isReadOnly}>
      <Field fault={faultOf(fault, 'agent_name')} label={t('Name')}>
        <Input onChange={(event) => change({ agent_name: event.target.value })} value={agent.agent_name} />
      </Field>
      <Field
        fault={faultOf(fault, 'first_message')}
        hint={t('Empty: it waits for the caller to speak.')}
        label={t('First message')}
      >
        <Textarea
          onChange={(event) => change({ first_message: event.target.value })}
          rows={2}
          value={agent.first_message}
        />
      </Field>
      <Field
        fault={faultOf(fault, 'system_prompt')}
        hint={t('Who it is, what it knows, how it should behave. {{name}} stands for a variable of the call.')}
        label={t('Prompt')}
      >
        <Textarea
          className="min-h-80 font-mono text-sm"
          onChange={(event) => change({ system_prompt: event.target.value })}
          rows={Math.min(30, Math.max(16, agent.system_prompt.split('\n').length + 2))}
          spellCheck
          value={agent.system_prompt}
        />
      </Field>
    </fieldset>
  )
}
