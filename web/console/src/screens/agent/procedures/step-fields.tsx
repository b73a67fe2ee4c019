import { useState } from 'react'
import type { Agent } from '../../../data/types.ts'
import { t } from '../../../language/t.ts'
import { Button } from '../../../ui/button.tsx'
import { Input, Select } from '../../../ui/field.tsx'

export type Step = NonNullable<Agent['procedures'][number]['fixed']>[number]
type Kind = 'say' | 'ask' | 'collect' | 'tool'

const KINDS: Readonly<Record<Kind, () => string>> = {
  say: () => t('Say'),
  ask: () => t('Ask'),
  collect: () => t('Collect'),
  tool: () => t('Call a tool'),
}

/** The kind of a step and what it does it with. */
export function partsOf({ say, ask, collect, tool }: Step): { kind: Kind; label: string; what: string } {
  const [kind, what]: [Kind, string] =
    tool !== undefined
      ? ['tool', tool]
      : collect !== undefined
        ? ['collect', collect]
        : ask !== undefined
          ? ['ask', ask]
          : ['say', say ?? '']
  return { kind, label: KINDS[kind](), what }
}

interface StepFieldsProps {
  agent: Agent
  number: number
  step: Step
  isReadOnly: boolean
  /** Empty: of the step as a whole. */
  fault: (field: string) => string | undefined
  /** Undefined: it is the first. */
  moveUp: (() => void) | undefined
  put: (step: Step) => void
  remove: () => void
}

/** One fixed step of a procedure. */
export function StepFields({ agent, number, step, isReadOnly, fault, moveUp, put, remove }: StepFieldsProps) {
  const { kind, what } = partsOf(step)
  const [args, setArgs] = useState(JSON.stringify(step.arguments ?? {}))
  const names = kind === 'tool' ? agent.tools.flatMap(({ name }) => name ?? []) : agent.collect.map(({ name }) => name)
  const given = objectIn(args)
  const found = fault(kind) ?? fault('arguments') ?? fault('')
  const wrong = kind === 'tool' && given === undefined ? t('The arguments are no JSON object') : found
  const change = (next: Kind) => {
    const first = next === 'collect' ? (agent.collect[0]?.name ?? '') : (agent.tools[0]?.name ?? '')
    put(next === 'say' || next === 'ask' ? { [next]: kind === 'say' || kind === 'ask' ? what : '' } : { [next]: first })
  }
  return (
    <li>
      <div className="flex flex-wrap items-center gap-2">
        <span className="w-5 text-right text-sm text-muted">{number}.</span>
        <Select
          aria-label={t('Kind of step {n}', { n: number })}
          className="w-36!"
          onChange={({ target }) => change(target.value as Kind)}
          value={kind}
        >
          {Object.entries(KINDS).map(([value, label]) => (
            <option key={value} value={value}>
              {label()}
            </option>
          ))}
        </Select>
        {kind === 'say' || kind === 'ask' ? (
          <Input
            aria-label={t('Sentence of step {n}', { n: number })}
            className="min-w-48 flex-1"
            onChange={({ target }) => put({ [kind]: target.value })}
            value={what}
          />
        ) : (
          <Select
            aria-label={kind === 'tool' ? t('Tool of step {n}', { n: number }) : t('Value of step {n}', { n: number })}
            className="min-w-48 flex-1"
            onChange={({ target }) => put({ ...step, [kind]: target.value })}
            value={what}
          >
            {!names.includes(what) && <option value={what}>{what}</option>}
            {names.map((name) => (
              <option key={name} value={name}>
                {name}
              </option>
            ))}
          </Select>
        )}
        {kind === 'tool' && (
          <Input
            aria-label={t('Arguments of step {n}', { n: number })}
            className="min-w-40 flex-1 font-mono text-sm"
            onChange={({ target }) => {
              setArgs(target.value)
              const read = objectIn(target.value)
              if (read !== undefined) put({ tool: what, arguments: read })
            }}
            value={args}
          />
        )}
        {!isReadOnly && (
          <>
            <Button
              aria-label={t('Move step {n} up', { n: number })}
              disabled={moveUp === undefined}
              icon="up"
              onClick={moveUp}
              size="sm"
            />
            <Button aria-label={t('Remove step {n}', { n: number })} icon="trash" onClick={remove} size="sm" />
          </>
        )}
      </div>
      {wrong !== undefined && <p className="mt-1 pl-7 text-xs text-bad">{wrong}</p>}
    </li>
  )
}

function objectIn(text: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(text)
    const isObject = typeof value === 'object' && value !== null && !Array.isArray(value)
    return isObject ? (value as Record<string, unknown>) : undefined
  } catch {
    return undefined
  }
}
