import type { Agent } from '../../data/types.ts'
import { t } from '../../language/t.ts'
import { Button } from '../../ui/button.tsx'
import { faultOf } from '../../ui/fault.tsx'
import { Field, Input, Select, Switch } from '../../ui/field.tsx'
import { Card } from '../../ui/layout.tsx'
import type { Draft } from './agent.tsx'

type Item = Agent['collect'][number]
type Type = Item['type']

const NAMES = {
  name: () => t('Name'),
  email: () => t('E-mail address'),
  phone: () => t('Phone number'),
  date: () => t('Date'),
  time: () => t('Time'),
  address: () => t('Postal address'),
  number: () => t('Number'),
  digits: () => t('Digits'),
  choice: () => t('Choice'),
  free: () => t('Free text'),
} satisfies Readonly<Record<Type, () => string>>
const TYPES = Object.keys(NAMES) as Type[]

/** The values that the agent collects from its callers. */
export function CollectForm({ draft: { agent, change, fault, isReadOnly } }: { draft: Draft }) {
  const { collect } = agent
  const put = (at: number, item: Item | undefined) =>
    change({ collect: collect.flatMap((one, i) => (i !== at ? [one] : item === undefined ? [] : [item])) })
  return (
    <Card
      actions={
        !isReadOnly && (
          <Button
            onClick={() => change({ collect: [...collect, { name: nextName(collect), type: 'phone' }] })}
            size="sm"
          >
            {t('Add a value')}
          </Button>
        )
      }
      title={t('Collects')}
    >
      {collect.length === 0 && (
        <p className="text-muted text-sm">{t('Numbers, addresses, dates that callers dictate, spell or key.')}</p>
      )}
      <div className="space-y-4">
        {collect.map((item, at) => (
          <Value
            fault={(field) => faultOf(fault, `collect.${at}.${field}`)}
            isReadOnly={isReadOnly}
            item={item}
            key={`${agent.agent_id}-${at}`}
            put={(next) => put(at, next)}
          />
        ))}
      </div>
    </Card>
  )
}

interface ValueProps {
  item: Item
  isReadOnly: boolean
  fault: (field: keyof Item) => string | undefined
  put: (item: Item | undefined) => void
}

function Value({ item, isReadOnly, fault, put }: ValueProps) {
  const { name, type, prompt, secret = false, spell_back = true } = item
  const set = (fields: Partial<Item>) => put(clean({ ...item, ...fields }))
  return (
    <div className="rounded-md border border-line p-3">
      <div className="grid gap-4 sm:grid-cols-2">
        <Field
          fault={fault('name')}
          hint={t('Stands in tools as {placeholder}.', { placeholder: `{{${name}}}` })}
          label={t('Name of the value')}
        >
          <Input
            className="font-mono text-sm"
            onChange={({ target }) => set({ name: target.value.toLowerCase().replace(/[^a-z0-9_]/g, '_') })}
            value={name}
          />
        </Field>
        <Field fault={fault('type')} label={t('Kind')}>
          <Select onChange={({ target }) => set({ type: target.value as Type })} value={type}>
            {TYPES.map((one) => (
              <option key={one} value={one}>
                {NAMES[one]()}
              </option>
            ))}
          </Select>
        </Field>
      </div>
      <div className="mt-4 grid gap-4 sm:grid-cols-2">
        <Field fault={fault('prompt')} hint={t('Empty: the one of the language.')} label={t('Question')}>
          <Input onChange={({ target }) => set({ prompt: target.value || undefined })} value={prompt ?? ''} />
        </Field>
        {type === 'choice' && (
          <Field fault={fault('options')} hint={t('Between commas.')} label={t('Options')}>
            <Input
              defaultValue={(item.options ?? []).join(', ')}
              onChange={({ target }) => set({ options: partsOf(target.value) })}
            />
          </Field>
        )}
        {type === 'digits' && (
          <Field fault={fault('length')} hint={t('Empty: any number of them.')} label={t('How many digits')}>
            <Input
              max={64}
              min={1}
              onChange={({ target }) => set({ length: target.value === '' ? undefined : Number(target.value) })}
              type="number"
              value={item.length ?? ''}
            />
          </Field>
        )}
      </div>
      <div className="mt-4 flex flex-wrap items-start gap-6">
        <Switch
          checked={spell_back && !secret}
          disabled={isReadOnly || secret}
          label={t('Reads it back')}
          onChange={(on) => set({ spell_back: on ? undefined : false })}
        />
        <Switch
          checked={secret}
          disabled={isReadOnly}
          hint={t('For tools alone that list it; in no log and no recording.')}
          label={t('Secret')}
          onChange={(on) => set({ secret: on || undefined, spell_back: undefined })}
        />
        {!isReadOnly && (
          <Button onClick={() => put(undefined)} size="sm">
            {t('Remove')}
          </Button>
        )}
      </div>
    </div>
  )
}

/** Without what is not said, and what is of another kind. */
function clean(item: { [K in keyof Item]?: Item[K] | undefined } & Pick<Item, 'name' | 'type'>): Item {
  const { options, length, luhn, ...rest } = item
  const of = item.type === 'choice' ? { options } : item.type === 'digits' ? { length, luhn } : {}
  return Object.fromEntries(Object.entries({ ...rest, ...of }).filter(([, value]) => value !== undefined)) as Item
}

const partsOf = (text: string): string[] =>
  text
    .split(',')
    .map((part) => part.trim())
    .filter(Boolean)

function nextName(collect: readonly Item[]): string {
  const taken = new Set(collect.map(({ name }) => name))
  return ['phone', ...collect.map((_, i) => `value_${i + 1}`), 'value'].find((name) => !taken.has(name)) ?? 'value'
}
