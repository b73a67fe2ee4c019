import { useState } from 'react'
import { useRead } from '../../../data/queries.ts'
import type { Agent, Tool } from '../../../data/types.ts'
import { t } from '../../../language/t.ts'
import { Field, Input, Select } from '../../../ui/field.tsx'
import { HeadersField } from './headers-field.tsx'

const WEBHOOK = 'webhook'

/** The agent that callers are handed to, and what goes with them. */
export function HandoffFields({
  agentId,
  tool,
  faults,
}: {
  agentId: string
  tool: Tool | undefined
  faults: Readonly<Record<string, string>>
}) {
  const { data: agents = [] } = useRead<Agent[]>('/agents')
  const [to, setTo] = useState(tool?.to ?? '')
  return (
    <>
      <div className="grid gap-4 sm:grid-cols-2">
        <Field fault={faults.to} label={t('Hand off to')}>
          <Select name="to" onChange={(event) => setTo(event.target.value)} value={to}>
            <option value="">{t('Choose an agent')}</option>
            {agents
              .filter(({ agent_id }) => agent_id !== agentId)
              .map(({ agent_id, agent_name }) => (
                <option key={agent_id} value={agent_id}>
                  {agent_name}
                </option>
              ))}
            <option value={WEBHOOK}>{t('An agent that a webhook names')}</option>
          </Select>
        </Field>
        <Field label={t('What it knows')}>
          <Select defaultValue={tool?.carries ?? 'all'} name="carries">
            <option value="all">{t('The whole conversation')}</option>
            <option value="summary">{t('A summary')}</option>
            <option value="none">{t('The reason alone')}</option>
          </Select>
        </Field>
      </div>
      <Field hint={t('Where the model says nothing itself.')} label={t('Said before')}>
        <Input defaultValue={tool?.says} name="says" placeholder={t('One moment, I connect you.')} />
      </Field>
      {to === WEBHOOK && (
        <>
          <Field fault={faults.url} hint={t('Answers with the agent’s id.')} label={t('Address')}>
            <Input
              className="font-mono text-sm"
              defaultValue={tool?.url}
              name="url"
              placeholder="https://crm.example.com/agent"
            />
          </Field>
          <HeadersField fault={faults.headers} headers={tool?.headers} />
        </>
      )}
    </>
  )
}

/** The hand-off of the form's fields; `fault` is called with each wrong one. */
export function readHandoff(
  fields: Readonly<Record<string, string>>,
  headers: readonly [string, string][],
  fault: (field: string, msg: string) => void,
): Partial<Tool> {
  const { to = '', carries, says = '', description = '', url = '' } = fields
  if (to === '') fault('to', t('Where it leads is missing'))
  const asks = to === WEBHOOK
  if (asks && !/^https?:\/\/./.test(url)) fault('url', t('begins with https:// or http://'))
  return {
    ...{ to, when: description, carries: carries as NonNullable<Tool['carries']> },
    ...(says.trim() === '' ? {} : { says }),
    ...(asks ? { url, ...(headers.length > 0 ? { headers: Object.fromEntries(headers) } : {}) } : {}),
  }
}
