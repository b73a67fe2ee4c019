import { t } from '../../../language/t.ts'
import { Field, Textarea } from '../../../ui/field.tsx'

interface HeadersFieldProps {
  /** As they were saved: names without their values. */
  headers: Readonly<Record<string, string>> | undefined
  fault: string | undefined
}

/** The headers of a tool's requests, one a line. */
export function HeadersField({ headers = {}, fault }: HeadersFieldProps) {
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`)
  return (
    <Field
      fault={fault}
      hint={t('One a line, as authorization: Bearer …. Values are kept sealed and never shown again.')}
      label={t('Headers')}
    >
      <Textarea className="font-mono text-sm" defaultValue={lines.join('\n')} name="headers" rows={2} />
    </Field>
  )
}
