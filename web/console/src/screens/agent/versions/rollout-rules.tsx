import type { RolloutPlan } from '../../../data/types.ts'
import { t } from '../../../language/t.ts'
import { Button } from '../../../ui/button.tsx'
import { Field, Input, Select, Textarea } from '../../../ui/field.tsx'

const MOST_RULES = 50
const VARIABLE = 'variable:'
const ATTRIBUTES = [
  ['called_number', t('Number called')],
  ['country', t('Country of the other side')],
  ['channel', t('Channel')],
  ['campaign', t('Campaign')],
  ['language', t('Language')],
  [VARIABLE, t('Variable')],
] as const
const OPERATORS = [
  ['is', t('is')],
  ['is_not', t('is not')],
  ['starts_with', t('starts with')],
] as const

type Rule = RolloutPlan['rules'][number]

/** A rule as it is edited: its values as lines. */
export interface EditedRule extends Omit<Rule['match'], 'values'> {
  id: number
  lines: string
  version: number
}

export function editedRules(rules: readonly Rule[]): EditedRule[] {
  return rules.map(({ match: { values, ...match }, version }, id) => ({
    ...match,
    ...{ id, lines: values.join('\n'), version },
  }))
}

/** As the API takes them; empty lines are no values. */
export function rulesOf(edited: readonly EditedRule[]): Rule[] {
  return edited.map(({ attribute, operator, lines, version }) => ({
    match: { attribute, operator, values: lines.split('\n').filter((line) => line.trim() !== '') },
    version,
  }))
}

interface RolloutRulesProps {
  rules: readonly EditedRule[]
  /** Versions that calls may get, the latest first. */
  numbers: readonly number[]
  faultOf: (field: string) => string | undefined
  onChange: (rules: EditedRule[]) => void
}

/** Which calls get which version whatever the split says: the first rule that matches decides. */
export function RolloutRules({ rules, numbers, faultOf, onChange }: RolloutRulesProps) {
  const add = () => {
    const id = Math.max(-1, ...rules.map((rule) => rule.id)) + 1
    onChange([...rules, { id, attribute: 'country', operator: 'is', lines: '', version: numbers[0] ?? 1 }])
  }
  const move = (at: number) => onChange(rules.toSpliced(at - 1, 2, rules[at]!, rules[at - 1]!))
  return (
    <fieldset className="space-y-3">
      <legend className="text-sm font-medium">{t('Rules')}</legend>
      <p className="text-xs text-muted">
        {t('The first that matches decides. Calls that none matches are split; those that one does are not compared.')}
      </p>
      {rules.map((rule, at) => (
        <RuleFields
          fault={(field) => faultOf(`rules.${at}.${field}`)}
          key={rule.id}
          name={t('Rule {n}', { n: at + 1 })}
          numbers={numbers}
          onChange={(change) => onChange(rules.with(at, { ...rule, ...change }))}
          onRemove={() => onChange(rules.toSpliced(at, 1))}
          rule={rule}
          {...(at > 0 ? { onMoveUp: () => move(at) } : {})}
        />
      ))}
      {rules.length < MOST_RULES && (
        <Button icon="plus" onClick={add} size="sm">
          {t('Add a rule')}
        </Button>
      )}
    </fieldset>
  )
}

interface RuleFieldsProps {
  rule: EditedRule
  name: string
  numbers: readonly number[]
  fault: (field: string) => string | undefined
  onChange: (change: Partial<EditedRule>) => void
  onMoveUp?: () => void
  onRemove: () => void
}

function RuleFields({ rule, name, numbers, fault, onChange, onMoveUp, onRemove }: RuleFieldsProps) {
  const { attribute, operator, lines, version } = rule
  const isVariable = attribute.startsWith(VARIABLE)
  // A version that the list does not have, as it has the latest alone.
  const versions = numbers.includes(version) ? numbers : [...numbers, version]
  return (
    <fieldset className="space-y-3 rounded-md border border-line p-3">
      <legend className="px-1 text-xs text-muted">{name}</legend>
      <div className="grid gap-3 sm:grid-cols-2">
        <Field fault={fault('match.attribute')} label={t('Where')}>
          <Select
            onChange={({ target }) => onChange({ attribute: target.value })}
            value={isVariable ? VARIABLE : attribute}
          >
            {ATTRIBUTES.map(([value, shown]) => (
              <option key={value} value={value}>
                {shown}
              </option>
            ))}
          </Select>
        </Field>
        {isVariable && (
          <Field label={t('Name of the variable')}>
            <Input
              maxLength={200}
              onChange={({ target }) => onChange({ attribute: `${VARIABLE}${target.value}` })}
              required
              value={attribute.slice(VARIABLE.length)}
            />
          </Field>
        )}
        <Field fault={fault('match.operator')} label={t('Comparison')}>
          <Select
            onChange={({ target }) => onChange({ operator: target.value as Rule['match']['operator'] })}
            value={operator}
          >
            {OPERATORS.map(([value, shown]) => (
              <option key={value} value={value}>
                {shown}
              </option>
            ))}
          </Select>
        </Field>
        <Field fault={fault('match.values')} hint={t('One a line: any of them.')} label={t('Values')}>
          <Textarea onChange={({ target }) => onChange({ lines: target.value })} required rows={2} value={lines} />
        </Field>
        <Field fault={fault('version')} label={t('Gets version')}>
          <Select onChange={({ target }) => onChange({ version: Number(target.value) })} value={version}>
            {versions.map((one) => (
              <option key={one} value={one}>
                {t('Version {version}', { version: one })}
              </option>
            ))}
          </Select>
        </Field>
      </div>
      <div className="flex gap-2">
        {onMoveUp && (
          <Button aria-label={t('Move {name} up', { name })} icon="up" kind="quiet" onClick={onMoveUp} size="sm" />
        )}
        <Button aria-label={t('Remove {name}', { name })} icon="trash" kind="quiet" onClick={onRemove} size="sm" />
      </div>
    </fieldset>
  )
}
