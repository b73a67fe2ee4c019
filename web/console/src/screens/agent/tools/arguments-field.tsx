import { t } from '../../../language/t.ts'
import { Button } from '../../../ui/button.tsx'
import { Field, Input, Select, Textarea } from '../../../ui/field.tsx'
import {
  ARGUMENT_TYPES,
  type ArgumentRow,
  type ArgumentType,
  rowsOfText,
  schemaOf,
  type ToolArguments,
} from './tool-arguments.ts'

const TYPES: Readonly<Record<ArgumentType, string>> = {
  string: t('Text'),
  integer: t('Whole number'),
  number: t('Number'),
  boolean: t('Yes or no'),
}
const NEW: ArgumentRow = { name: '', type: 'string', description: '', isRequired: true }

interface ArgumentsFieldProps {
  value: ToolArguments
  onChange: (next: ToolArguments) => void
  fault: string | undefined
}

/** What the model fills in: a row for each argument, or the JSON Schema. */
export function ArgumentsField({ value, onChange, fault }: ArgumentsFieldProps) {
  if ('text' in value) {
    const rows = rowsOfText(value.text)
    return (
      <div>
        <Field fault={fault} hint={t('JSON Schema of what the model fills in.')} label={t('Arguments')}>
          <Textarea
            className="font-mono text-sm"
            onChange={({ target }) => onChange({ text: target.value })}
            rows={7}
            value={value.text}
          />
        </Field>
        {rows && (
          <Button className="mt-2" onClick={() => onChange({ rows })} size="sm">
            {t('As rows')}
          </Button>
        )}
      </div>
    )
  }
  const { rows } = value
  const put = (at: number, fields: Partial<ArgumentRow>) =>
    onChange({ rows: rows.map((row, i) => (i === at ? { ...row, ...fields } : row)) })
  return (
    <fieldset aria-label={t('Arguments')} className="space-y-2">
      <p className="text-sm font-medium">{t('Arguments')}</p>
      {rows.map((row, at) => (
        <Row
          key={at}
          n={at + 1}
          put={(fields) => put(at, fields)}
          remove={() => onChange({ rows: rows.filter((_, i) => i !== at) })}
          row={row}
        />
      ))}
      <p className={`text-xs ${fault ? 'text-bad' : 'text-muted'}`} role={fault && 'alert'}>
        {fault ?? t('What the model fills in. The description says what it should be.')}
      </p>
      <span className="flex gap-2">
        <Button icon="plus" onClick={() => onChange({ rows: [...rows, NEW] })} size="sm">
          {t('Add an argument')}
        </Button>
        <Button kind="quiet" onClick={() => onChange({ text: JSON.stringify(schemaOf(rows), null, 2) })} size="sm">
          {t('As JSON Schema')}
        </Button>
      </span>
    </fieldset>
  )
}

interface RowProps {
  row: ArgumentRow
  n: number
  put: (fields: Partial<ArgumentRow>) => void
  remove: () => void
}

function Row({ row: { name, type, description, isRequired }, n, put, remove }: RowProps) {
  return (
    <div className="grid items-center gap-2 sm:grid-cols-[minmax(0,1fr)_9rem_minmax(0,2fr)_auto_auto]">
      <Input
        aria-label={t('Name of argument {n}', { n })}
        className="font-mono text-sm"
        onChange={({ target }) => put({ name: target.value.trim() })}
        placeholder="order_id"
        value={name}
      />
      <Select
        aria-label={t('Kind of argument {n}', { n })}
        onChange={({ target }) => put({ type: target.value as ArgumentType })}
        value={type}
      >
        {ARGUMENT_TYPES.map((one) => (
          <option key={one} value={one}>
            {TYPES[one]}
          </option>
        ))}
      </Select>
      <Input
        aria-label={t('Description of argument {n}', { n })}
        onChange={({ target }) => put({ description: target.value })}
        placeholder={t('The number on the invoice')}
        value={description}
      />
      <label className="flex items-center gap-1.5 text-sm">
        <input
          checked={isRequired}
          className="size-4 accent-(--accent)"
          onChange={({ target }) => put({ isRequired: target.checked })}
          type="checkbox"
        />
        {t('Required')}
      </label>
      <Button aria-label={t('Remove argument {n}', { n })} icon="trash" kind="quiet" onClick={remove} size="sm" />
    </div>
  )
}
