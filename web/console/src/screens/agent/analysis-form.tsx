import { useState } from 'react'
import { t } from '../../language/t.ts'
import { faultOf } from '../../ui/fault.tsx'
import { Field, Switch, Textarea } from '../../ui/field.tsx'
import { Card } from '../../ui/layout.tsx'
import type { Draft } from './agent.tsx'

/** What is found out of the agent's calls after their end. */
export function AnalysisForm({ draft: { agent, change, fault, isReadOnly } }: { draft: Draft }) {
  const { analysis } = agent
  const [jsonFault, setJsonFault] = useState<string>()
  const set = (fields: Partial<typeof analysis>) =>
    change({
      analysis: Object.fromEntries(
        Object.entries({ ...analysis, ...fields }).filter(([, value]) => value !== undefined),
      ) as typeof analysis,
    })
  const readData = (text: string) => {
    setJsonFault(undefined)
    if (text.trim() === '') return set({ data: undefined })
    try {
      set({ data: JSON.parse(text) as Record<string, unknown> })
    } catch (error) {
      setJsonFault(t('is no JSON: {message}', { message: (error as Error).message }))
    }
  }
  return (
    <Card title={t('After the call')}>
      <div className="space-y-4">
        <Switch
          checked={analysis.summary ?? true}
          disabled={isReadOnly}
          hint={t('Two or three sentences on what was said.')}
          label={t('Summary')}
          onChange={(summary) => set({ summary })}
        />
        <Field
          fault={faultOf(fault, 'analysis.success')}
          hint={t('Empty: calls are not judged.')}
          label={t('A call is a success when')}
        >
          <Textarea
            onChange={({ target: { value } }) => set({ success: value || undefined })}
            placeholder={t('the appointment was moved')}
            rows={2}
            value={analysis.success ?? ''}
          />
        </Field>
        <Field
          fault={faultOf(fault, 'analysis.dispositions')}
          hint={t('One a line: the name = when it is so. Reports count them.')}
          label={t('What a call may come to')}
        >
          <Textarea
            defaultValue={(analysis.dispositions ?? []).map(({ name, when }) => `${name} = ${when}`).join('\n')}
            onChange={({ target: { value } }) => set({ dispositions: readDispositions(value) })}
            placeholder={t('moved = an appointment was moved')}
            rows={3}
          />
        </Field>
        <Field
          fault={jsonFault ?? faultOf(fault, 'analysis.data')}
          hint={t('JSON Schema of an object: what is read out of the call.')}
          label={t('Data')}
        >
          <Textarea
            className="font-mono text-sm"
            defaultValue={analysis.data ? JSON.stringify(analysis.data, null, 2) : ''}
            onChange={({ target: { value } }) => readData(value)}
            placeholder='{"type": "object", "properties": {"day": {"type": "string"}}}'
            rows={4}
          />
        </Field>
      </div>
    </Card>
  )
}

function readDispositions(text: string) {
  const read = text.split('\n').flatMap((line) => {
    const at = line.indexOf('=')
    const [name, when] = [line.slice(0, at).trim(), line.slice(at + 1).trim()]
    return at > 0 && name && when ? [{ name, when }] : []
  })
  return read.length > 0 ? read : undefined
}
