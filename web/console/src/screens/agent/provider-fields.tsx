import { faultOf } from '../../ui/fault.tsx'
import { Field, Input } from '../../ui/field.tsx'
import type { Draft } from './agent.tsx'

const CHOICES = {
  STT: ['STT_provider', 'STT_model', 'Model'],
  LLM: ['LLM_provider', 'LLM_model', 'Model'],
  TTS: ['TTS_provider', 'TTS_voice', 'Voice'],
} as const

/** Who does a stage, and with what. */
export function ProviderFields({
  draft: { agent, change, fault },
  kind,
}: {
  draft: Draft
  kind: keyof typeof CHOICES
}) {
  const [provider, choice, label] = CHOICES[kind]
  return (
    <div className="grid gap-4 sm:grid-cols-2">
      <Field fault={faultOf(fault, provider)} label="Provider">
        <Input onChange={(event) => change({ [provider]: event.target.value })} value={agent[provider]} />
      </Field>
      <Field fault={faultOf(fault, choice)} label={label}>
        <Input onChange={(event) => change({ [choice]: event.target.value })} value={agent[choice]} />
      </Field>
    </div>
  )
}
