import { faultOf } from '../../ui/fault.tsx'
import { Field, Input } from '../../ui/field.tsx'
import type { Draft } from './agent.tsx'

interface TextFieldProps {
  draft: Draft
  name: 'voicemail_message' | 'recording_notice' | 'consent_message'
  label: string
  hint: string
}

/** Words that the agent says. */
export function TextField({ draft: { agent, change, fault }, name, label, hint }: TextFieldProps) {
  return (
    <Field fault={faultOf(fault, name)} hint={hint} label={label}>
      <Input onChange={(event) => change({ [name]: event.target.value })} value={agent[name]} />
    </Field>
  )
}
