import { useQueryClient } from '@tanstack/react-query'
import { type FormEvent, useState } from 'react'
import { formatShare } from '../../../data/format.ts'
import { useWrite } from '../../../data/queries.ts'
import type { Agent, Rollout, RolloutPlan } from '../../../data/types.ts'
import { t } from '../../../language/t.ts'
import { Button } from '../../../ui/button.tsx'
import { Dialog, DialogActions } from '../../../ui/dialog.tsx'
import { Fault, faultOf } from '../../../ui/fault.tsx'
import { Field, Input, Select } from '../../../ui/field.tsx'
import { GUARD_FIGURES, guardFigureName } from './figures.ts'
import { editedRules, RolloutRules, rulesOf } from './rollout-rules.tsx'

const DEFAULTS = { percent: 20, minCalls: 50, plannedCalls: 400 }

interface RolloutDialogProps {
  agent: Agent
  /** Of its versions, the latest first; two at least. */
  numbers: readonly number[]
  rollout?: Rollout
  onClose: () => void
}

/** Two versions, the share of the later one, what stops it, and which calls get a version by rules. */
export function RolloutDialog({ agent, numbers, rollout, onClose }: RolloutDialogProps) {
  const path = `/agents/${agent.agent_id}/rollout`
  const queries = useQueryClient()
  const known = rollout?.split.toSorted((a, b) => a.version - b.version)
  const [earlier, setEarlier] = useState(known?.[0]?.version ?? numbers[1] ?? 1)
  const [later, setLater] = useState(known?.[1]?.version ?? numbers[0] ?? 1)
  const [percent, setPercent] = useState(known?.[1] ? Math.round(known[1].weight * 1_000) / 10 : DEFAULTS.percent)
  const [rules, setRules] = useState(() => editedRules(rollout?.rules ?? []))
  const [sticky, setSticky] = useState<RolloutPlan['sticky']>(rollout?.sticky ?? 'contact')
  const [figure, setFigure] = useState(rollout?.guard?.figure ?? '')
  const [minCalls, setMinCalls] = useState(rollout?.guard?.min_calls ?? DEFAULTS.minCalls)
  const [plannedCalls, setPlannedCalls] = useState(rollout?.guard?.planned_calls ?? DEFAULTS.plannedCalls)
  const dispositions = (agent.analysis.dispositions ?? []).map(({ name }) => `disposition:${name}`)
  const figures = [...new Set([...GUARD_FIGURES, ...dispositions, ...(figure ? [figure] : [])])]
  const weight = Math.min(100, Math.max(0, percent)) / 100
  const rest = Number((1 - weight).toFixed(4))
  const plan: RolloutPlan = {
    rules: rulesOf(rules),
    split: [
      { version: earlier, weight: rest },
      { version: later, weight },
    ],
    sticky,
    guard: figure === '' ? null : { figure, min_calls: minCalls, planned_calls: plannedCalls },
  }
  const start = useWrite<Rollout>(() => [path, { method: 'PUT', body: plan }], {
    changes: [path],
    done: t('The rollout runs'),
    quiet: true,
    onDone: (answer) => {
      queries.setQueryData([path, {}], answer)
      onClose()
    },
  })
  const submit = (event: FormEvent) => {
    event.preventDefault()
    start.mutate()
  }
  const chooseEarlier = (version: number) => {
    setEarlier(version)
    if (later <= version) setLater(numbers[0] ?? version)
  }
  return (
    <Dialog
      lead={t('For calls that begin from now on.')}
      onClose={onClose}
      open
      title={rollout ? t('Change the rollout') : t('Start a rollout')}
    >
      <form className="space-y-4" onSubmit={submit}>
        <div className="grid gap-4 sm:grid-cols-2">
          <Field fault={faultOf(start.error, 'split.0.version')} label={t('Earlier version')}>
            <Select onChange={({ target }) => chooseEarlier(Number(target.value))} value={earlier}>
              {numbers.slice(1).map((version) => (
                <option key={version} value={version}>
                  {t('Version {version}', { version })}
                </option>
              ))}
            </Select>
          </Field>
          <Field fault={faultOf(start.error, 'split.1.version')} label={t('Later version')}>
            <Select onChange={({ target }) => setLater(Number(target.value))} value={later}>
              {numbers
                .filter((version) => version > earlier)
                .map((version) => (
                  <option key={version} value={version}>
                    {t('Version {version}', { version })}
                  </option>
                ))}
            </Select>
          </Field>
        </div>
        <Field
          fault={faultOf(start.error, 'split')}
          hint={t('Version {version} gets the other {share}.', { version: earlier, share: formatShare(rest) })}
          label={t('Share of the later version, %')}
        >
          <Input
            max={100}
            min={0}
            onChange={({ target }) => setPercent(Number(target.value))}
            required
            step={0.1}
            type="number"
            value={percent}
          />
        </Field>
        <Field hint={t('A contact is a number, or the session of a page or chat.')} label={t('Each contact')}>
          <Select onChange={({ target }) => setSticky(target.value as RolloutPlan['sticky'])} value={sticky}>
            <option value="contact">{t('gets the same version again')}</option>
            <option value="call">{t('is split call by call')}</option>
          </Select>
        </Field>
        <Field
          fault={faultOf(start.error, 'guard')}
          hint={
            figure === 'success' && !agent.analysis.success
              ? t('Say first in the settings when a call is a success: until then none is judged.')
              : t('After every call; when the later version is worse, all calls get the earlier one.')
          }
          label={t('Compare and stop by')}
        >
          <Select onChange={({ target }) => setFigure(target.value)} value={figure}>
            <option value="">{t('Nothing')}</option>
            {figures.map((one) => (
              <option key={one} value={one}>
                {guardFigureName(one)}
              </option>
            ))}
          </Select>
        </Field>
        {figure !== '' && (
          <div className="grid gap-4 sm:grid-cols-2">
            <Field
              fault={faultOf(start.error, 'guard.min_calls')}
              hint={t('Nothing is decided before.')}
              label={t('Calls of each version, at least')}
            >
              <Input
                max={1_000_000}
                min={2}
                onChange={({ target }) => setMinCalls(Number(target.value))}
                required
                type="number"
                value={minCalls}
              />
            </Field>
            <Field
              fault={faultOf(start.error, 'guard.planned_calls')}
              hint={t('The more, the smaller a drop it finds.')}
              label={t('Planned calls of both')}
            >
              <Input
                max={10_000_000}
                min={20}
                onChange={({ target }) => setPlannedCalls(Number(target.value))}
                required
                type="number"
                value={plannedCalls}
              />
            </Field>
          </div>
        )}
        <RolloutRules
          faultOf={(field) => faultOf(start.error, field)}
          numbers={numbers}
          onChange={setRules}
          rules={rules}
        />
        <Fault error={start.error} />
        <DialogActions>
          <Button onClick={onClose}>{t('Cancel')}</Button>
          <Button busy={start.isPending} kind="primary" type="submit">
            {rollout ? t('Save') : t('Start')}
          </Button>
        </DialogActions>
      </form>
    </Dialog>
  )
}
