import { useState } from 'react'
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
      setJsonFault(`is no JSON: ${(error as Error).message}`)
    }
  }
  return (
    <Card title="After the call">
      <div className="space-y-4">
        <Switch
          checked={analysis.summary ?? true}
          disabled={isReadOnly}
          hint="Two or three sentences on what was said."
          label="Summary"
          onChange={(summary) => set({ summary })}
        />
        <Field
          fault={faultOf(fault, 'analysis.success')}
          hint="Empty: calls are not judged."
          label="A call is a success when"
        >
          <Textarea
            onChange={({ target: { value } }) => set({ success: value || undefined })}
            placeholder="the appointment was moved"
            rows={2}
            value={analysis.success ?? ''}
          />
        </Field>
        <Field
          fault={faultOf(fault, 'analysis.dispositions')}
          hint="One a line: the name = when it is so. Reports count them."
          label="What a call may come to"
        >
          <Textarea
            defaultValue={(analysis.dispositions ?? []).map(({ name, when }) => `${name} = ${when}`).join('\n')}
            onChange={({ target: { value } }) => set({ dispositions: readDispositions(value) })}
            placeholder="moved = an appointment was moved"
            rows={3}
          />
        </Field>
        <Field
          fault={jsonFault ?? faultOf(fault, 'analysis.data')}
          hint="JSON Schema of an object: what is read out of the call."
          label="Data"
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
