import { useProviders } from '../../data/providers.ts'
import type { AgentInput } from '../../data/types.ts'
import { t } from '../../language/t.ts'
import { faultOf } from '../../ui/fault.tsx'
import { Field, Select } from '../../ui/field.tsx'
import type { Draft } from './agent.tsx'
import { speaksItself } from './provider-fields.tsx'

/** Whose words for what callers say are kept, where the model hears their sound. */
export function TranscribeField({ draft: { agent, change, fault } }: { draft: Draft }) {
  const { data } = useProviders()
  const provider = data?.providers.find((one) => one.provider === agent.LLM_provider)
  if (!speaksItself(agent, provider)) return null
  return (
    <div className="mt-4">
      <Field
        fault={faultOf(fault, 'transcribe')}
        hint={t('The recogniser hears in any case: it finds the ends of turns.')}
        label={t('What callers say is written by')}
      >
        <Select
          onChange={(event) => change({ transcribe: event.target.value as NonNullable<AgentInput['transcribe']> })}
          value={agent.transcribe}
        >
          <option value="own">{t('The recogniser')}</option>
          <option value="model">{t('The model, as it understood them')}</option>
        </Select>
      </Field>
    </div>
  )
}
