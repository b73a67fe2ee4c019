import { type FormEvent, useRef, useState } from 'react'
import type { Tool } from '../../../data/types.ts'
import { t } from '../../../language/t.ts'
import { Button } from '../../../ui/button.tsx'
import { Dialog, DialogActions } from '../../../ui/dialog.tsx'
import { Field, Input, Select, Textarea } from '../../../ui/field.tsx'
import { ArgumentsField } from './arguments-field.tsx'
import { HandoffFields, readHandoff } from './hand-off-fields.tsx'
import { HeadersField } from './headers-field.tsx'
import { argumentsOf, repeatedName, sampleOf, schemaOf, type ToolArguments } from './tool-arguments.ts'
import { ToolTry } from './tool-try.tsx'
import { TOOL_TYPES } from './tools.tsx'

interface ToolDialogProps {
  agentId: string
  tool: Tool | undefined
  /** Names other tools of the agent have. */
  names: readonly string[]
  onClose: () => void
  onSave: (tool: Tool) => void
}

const NAME_HINTS: Partial<Record<Tool['type'], string>> = {
  mcp: t('Empty: its host.'),
  handoff: t('Empty: from the agent’s name.'),
}
const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] as const

/** One tool, new or to be changed. It is kept with the agent, when that is saved. */
export function ToolDialog({ agentId, tool, names, onClose, onSave }: ToolDialogProps) {
  const [type, setType] = useState<Tool['type']>(tool?.type ?? 'http')
  const [given, setGiven] = useState(() => argumentsOf(tool?.parameters))
  const [faults, setFaults] = useState<Readonly<Record<string, string>>>({})
  const form = useRef<HTMLFormElement>(null)
  /** The tool of the form, or undefined, and the form says why. */
  const read = (): Tool | undefined => {
    const fields = Object.fromEntries(new FormData(form.current!)) as Record<string, string>
    const found = readTool(type, fields, given, names, tool)
    setFaults('tool' in found ? {} : found.faults)
    return 'tool' in found ? found.tool : undefined
  }
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault()
    const made = read()
    if (made) onSave(made)
  }
  return (
    <Dialog
      lead={t('The model decides when to use it, by its name and description.')}
      onClose={onClose}
      open
      title={tool ? t('Tool {name}', { name: tool.name }) : t('New tool')}
      wide={type === 'http' || type === 'mcp'}
    >
      <form className="space-y-4" noValidate onSubmit={submit} ref={form}>
        <div className="grid gap-4 sm:grid-cols-2">
          <Field label={t('What it does')}>
            <Select onChange={(event) => setType(event.target.value as Tool['type'])} value={type}>
              {Object.entries(TOOL_TYPES).map(([value, label]) => (
                <option key={value} value={value}>
                  {label}
                </option>
              ))}
            </Select>
          </Field>
          <Field
            fault={faults.name}
            hint={NAME_HINTS[type] ?? t('Letters, digits and _, as order_status.')}
            label={t('Name')}
          >
            <Input className="font-mono" defaultValue={tool?.name} name="name" />
          </Field>
        </div>
        <Field
          fault={faults.description}
          hint={type === 'mcp' ? t('Its tools describe themselves.') : t('When to use it.')}
          label={t('Description')}
        >
          <Input
            defaultValue={tool?.description ?? tool?.when}
            name="description"
            placeholder={type === 'handoff' ? t('The caller asks about a bill.') : t('Looks up where an order is.')}
          />
        </Field>
        {type === 'transfer' && (
          <div className="grid gap-4 sm:grid-cols-2">
            <Field fault={faults.to} hint={t('A number, an extension or a SIP address.')} label={t('To')}>
              <Input defaultValue={tool?.to} name="to" placeholder="+14155550123" />
            </Field>
            <Field hint={t('Warm: the person is told who calls and why.')} label={t('How')}>
              <Select defaultValue={tool?.mode ?? 'blind'} name="mode">
                <option value="blind">{t('Blind')}</option>
                <option value="warm">{t('Warm')}</option>
              </Select>
            </Field>
          </div>
        )}
        {type === 'handoff' && <HandoffFields agentId={agentId} faults={faults} tool={tool} />}
        {type === 'http' && (
          <>
            <HttpFields faults={faults} given={given} onGiven={setGiven} tool={tool} />
            <ToolTry agentId={agentId} read={read} sample={sampleOf(given)} />
          </>
        )}
        {type === 'mcp' && <McpFields faults={faults} tool={tool} />}
        <DialogActions>
          <Button onClick={onClose}>{t('Cancel')}</Button>
          <Button kind="primary" type="submit">
            {tool ? t('Change') : t('Add')}
          </Button>
        </DialogActions>
      </form>
    </Dialog>
  )
}

interface HttpFieldsProps {
  tool: Tool | undefined
  faults: Readonly<Record<string, string>>
  given: ToolArguments
  onGiven: (next: ToolArguments) => void
}

function HttpFields({ tool, faults, given, onGiven }: HttpFieldsProps) {
  return (
    <>
      <div className="grid gap-4 sm:grid-cols-[7rem_1fr_8rem]">
        <Field label={t('Method')}>
          <Select defaultValue={tool?.http?.method ?? 'GET'} name="method">
            {METHODS.map((method) => (
              <option key={method}>{method}</option>
            ))}
          </Select>
        </Field>
        <Field fault={faults.url} hint={t('{{order_id}} stands for an argument.')} label={t('Address')}>
          <Input
            className="font-mono text-sm"
            defaultValue={tool?.http?.url}
            name="url"
            placeholder="https://api.example.com/orders/{{order_id}}"
          />
        </Field>
        <Field fault={faults.timeout_ms} label={t('Timeout, ms')}>
          <Input defaultValue={tool?.http?.timeout_ms ?? 5_000} inputMode="numeric" name="timeout_ms" />
        </Field>
      </div>
      <HeadersField fault={faults.headers} headers={tool?.http?.headers} />
      <ArgumentsField fault={faults.parameters} onChange={onGiven} value={given} />
      <Field
        fault={faults.body}
        hint={t('JSON whose texts may hold {{name}}. Empty: the arguments.')}
        label={t('Body')}
      >
        <Textarea
          className="font-mono text-sm"
          defaultValue={tool?.http?.body === undefined ? '' : JSON.stringify(tool.http.body, null, 2)}
          name="body"
          rows={3}
        />
      </Field>
    </>
  )
}

function McpFields({ tool, faults }: { tool: Tool | undefined; faults: Readonly<Record<string, string>> }) {
  const plugin = tool?.plugin
  return (
    <>
      <div className="grid gap-4 sm:grid-cols-[1fr_8rem]">
        {plugin === undefined ? (
          <Field fault={faults.url} hint={t('Model Context Protocol by streamable HTTP.')} label={t('Address')}>
            <Input
              className="font-mono text-sm"
              defaultValue={tool?.url}
              name="url"
              placeholder="https://crm.example.com/mcp"
            />
          </Field>
        ) : (
          <Field label={t('Plugin')}>
            <Input className="font-mono text-sm" disabled value={plugin} />
          </Field>
        )}
        <Field fault={faults.timeout_ms} label={t('Timeout, ms')}>
          <Input defaultValue={tool?.timeout_ms ?? 5_000} inputMode="numeric" name="timeout_ms" />
        </Field>
      </div>
      {plugin === undefined && <HeadersField fault={faults.headers} headers={tool?.headers} />}
      <Field hint={t('Names with commas. Empty: all the server lists.')} label={t('Its tools the agent may use')}>
        <Input defaultValue={tool?.allow?.join(', ')} name="allow" placeholder="find_booking, move_booking" />
      </Field>
    </>
  )
}

/** Fields that the form does not show: they stay as they are. */
const UNSHOWN: Partial<Record<Tool['type'], readonly (keyof Tool)[]>> = {
  http: ['secrets'],
  client: ['parameters', 'timeout_ms', 'secrets'],
  mcp: ['plugin'],
}

type Read = { tool: Tool } | { faults: Record<string, string> }

/** The tool of a form's fields, or what is wrong with them. */
function readTool(
  type: Tool['type'],
  fields: Record<string, string>,
  given: ToolArguments,
  names: readonly string[],
  before: Tool | undefined,
): Read {
  const faults: Record<string, string> = {}
  const { name = '', description = '' } = fields
  const isOptional = type === 'mcp'
  if (!((isOptional || type === 'handoff') && name === '') && !/^[A-Za-z_][A-Za-z0-9_-]{0,63}$/.test(name))
    faults.name = t('begins with a letter, then letters, digits, _ and -')
  else if (names.includes(name)) faults.name = t('is used by another tool of this agent')
  if (!isOptional && description.trim() === '') faults.description = t('The model needs to know when to use it')
  const kept = before?.type === type ? (UNSHOWN[type] ?? []) : []
  const unshown = Object.fromEntries(kept.flatMap((field) => (before?.[field] ? [[field, before[field]]] : [])))
  const tool: Tool = { ...unshown, type, ...(name ? { name } : {}) }
  if (description !== '' && type !== 'handoff') tool.description = description
  if (type === 'transfer') {
    if (!fields.to) faults.to = t('Where it leads is missing')
    Object.assign(tool, { to: fields.to, mode: fields.mode })
  }
  const headers = (fields.headers ?? '').split('\n').flatMap((line): [string, string][] => {
    const at = line.indexOf(':')
    if (line.trim() === '') return []
    if (at < 1) faults.headers = t('each line is a name, a colon and a value')
    return [[line.slice(0, at).trim(), line.slice(at + 1).trim()]]
  })
  if (type === 'handoff') {
    const found = readHandoff(fields, headers, (field, msg) => {
      faults[field] = msg
    })
    Object.assign(tool, found)
  }
  if (type === 'mcp') {
    if (tool.plugin === undefined && !/^https?:\/\/./.test(fields.url ?? ''))
      faults.url = t('begins with https:// or http://')
    const allow = (fields.allow ?? '')
      .split(',')
      .map((one) => one.trim())
      .filter(Boolean)
    Object.assign(tool, {
      ...(tool.plugin === undefined ? { url: fields.url } : {}),
      timeout_ms: Number(fields.timeout_ms),
      ...(headers.length > 0 ? { headers: Object.fromEntries(headers) } : {}),
      ...(allow.length > 0 ? { allow } : {}),
    })
  }
  if (type === 'http') {
    if (!/^https?:\/\/./.test(fields.url ?? '')) faults.url = t('begins with https:// or http://')
    const timeoutMs = Number(fields.timeout_ms)
    if (!Number.isInteger(timeoutMs) || timeoutMs < 100) faults.timeout_ms = t('at least 100')
    const json = (field: string, text = ''): unknown => {
      if (text.trim() === '') return undefined
      try {
        return JSON.parse(text)
      } catch (error) {
        faults[field] = t('is no JSON: {message}', { message: (error as Error).message })
        return undefined
      }
    }
    const rows = 'rows' in given ? given.rows : []
    const repeated = repeatedName(rows)
    if (rows.some((row) => row.name === '' && row.description !== '')) faults.parameters = t('an argument has no name')
    else if (repeated !== undefined) faults.parameters = t('two arguments have the name {name}', { name: repeated })
    const parameters = 'rows' in given ? schemaOf(given.rows) : json('parameters', given.text)
    const body = json('body', fields.body)
    Object.assign(tool, {
      ...(parameters === undefined ? {} : { parameters }),
      http: {
        method: fields.method,
        url: fields.url,
        timeout_ms: timeoutMs,
        ...(headers.length > 0 ? { headers: Object.fromEntries(headers) } : {}),
        ...(body === undefined ? {} : { body }),
      },
    })
  }
  return Object.keys(faults).length > 0 ? { faults } : { tool }
}
