import { type FormEvent, useState } from 'react'
import { formatCount, formatWord } from '../../data/format.ts'
import { useRead, useWrite } from '../../data/queries.ts'
import type { OperatedWorkspace, Page, WorkerPools as Pools } from '../../data/types.ts'
import { t } from '../../language/t.ts'
import { Button } from '../../ui/button.tsx'
import { Confirm } from '../../ui/confirm.tsx'
import { Fault, faultOf } from '../../ui/fault.tsx'
import { Field, Input, Select } from '../../ui/field.tsx'
import { Card, Empty, Notice } from '../../ui/layout.tsx'
import { Table } from '../../ui/table.tsx'

type Rule = Pools['rules'][number]

const PATH = '/operator/worker-pools'
const EVERY_MS = 5_000
const KINDS = ['workspace', 'agent', 'region'] as const
const keyOf = ({ kind, key }: Pick<Rule, 'kind' | 'key'>): string => `${kind} ${key}`

/** The pools of voice workers, and which calls each serves. */
export function WorkerPools() {
  const { data, error } = useRead<Pools>(PATH, { everyMs: EVERY_MS })
  const { data: workspaces } = useRead<Page<OperatedWorkspace>>('/operator/workspaces', { query: { page_size: 200 } })
  const [edited, setEdited] = useState<Rule>()
  const [asked, setAsked] = useState<Rule>()
  const remove = useWrite<{ detail: string }, Rule>(
    ({ kind, key }) => [`${PATH}/${kind}/${encodeURIComponent(key)}`, { method: 'DELETE' }],
    { done: t('The workers without a pool serve them from the next call on'), changes: [PATH] },
  )
  if (error) return <Fault error={error} />
  if (data === undefined) return null
  const { pools, rules } = data
  const named = new Map(workspaces?.items.map(({ workspace_id, name }) => [workspace_id, name]))
  const nameOf = ({ kind, key }: Rule): string => (kind === 'workspace' ? (named.get(key) ?? key) : key)
  const staffed = new Set(pools.filter(({ workers }) => workers > 0).map(({ pool }) => pool))
  const unstaffed = [...new Set(rules.map(({ pool }) => pool))].filter((pool) => !staffed.has(pool))
  return (
    <>
      {unstaffed.map((pool) => (
        <Notice key={pool} tone="warn">
          {t('No worker of the pool {pool} is linked: calls that it serves end without an answer.', { pool })}
        </Notice>
      ))}
      <Card flush title={t('Pools')}>
        <Table
          columns={[
            { name: t('Pool'), cell: ({ pool }) => <span className="font-medium">{pool || t('Without a name')}</span> },
            { name: t('Workers'), align: 'end', cell: ({ workers }) => formatCount(workers) },
            {
              name: t('Free seats'),
              align: 'end',
              cell: ({ ready, seats }) => t('{n} of {all}', { n: formatCount(ready), all: formatCount(seats) }),
            },
          ]}
          label={t('Pools')}
          rowKey={({ pool }) => pool}
          rows={pools}
        />
      </Card>
      <Card flush title={t('Which calls a pool serves')}>
        {rules.length === 0 ? (
          <Empty icon="workers" title={t('One pool serves everybody')}>
            {t('Start voice workers with PATCHBAY_WORKER_POOL, then choose here whose calls they serve.')}
          </Empty>
        ) : (
          <Table
            columns={[
              {
                name: t('Whose calls'),
                cell: (rule) => (
                  <>
                    <span className="text-muted">{formatWord(rule.kind)}</span>{' '}
                    <span className="font-medium">{nameOf(rule)}</span>
                  </>
                ),
              },
              { name: t('Pool'), cell: ({ pool }) => pool },
              {
                name: '',
                align: 'end',
                cell: (rule) => (
                  <span className="flex justify-end gap-2">
                    <Button
                      aria-label={t('Change {name}', { name: nameOf(rule) })}
                      onClick={() => setEdited(rule)}
                      size="sm"
                    >
                      {t('Change')}
                    </Button>
                    <Button
                      aria-label={t('Remove {name}', { name: nameOf(rule) })}
                      icon="trash"
                      kind="quiet"
                      onClick={() => setAsked(rule)}
                      size="sm"
                    />
                  </span>
                ),
              },
            ]}
            label={t('Which calls a pool serves')}
            rowKey={keyOf}
            rows={rules}
          />
        )}
        <div className="border-t border-line p-4">
          <RuleForm
            // Another rule begins with its own values.
            key={edited === undefined ? '' : keyOf(edited)}
            onDone={() => setEdited(undefined)}
            pools={pools}
            rule={edited}
            workspaces={workspaces?.items ?? []}
          />
        </div>
      </Card>
      <Confirm
        action={t('Remove')}
        onClose={() => setAsked(undefined)}
        onConfirm={() => (asked === undefined ? Promise.resolve() : remove.mutateAsync(asked))}
        open={asked !== undefined}
        title={t('Remove {name}?', { name: asked && nameOf(asked) })}
      >
        {t('The workers without a pool serve these calls from the next one on. Calls that run stay where they are.')}
      </Confirm>
    </>
  )
}

/** Gives calls to a pool; a rule that is changed keeps whose they are. */
function RuleForm({
  rule,
  pools,
  workspaces,
  onDone,
}: {
  rule: Rule | undefined
  pools: Pools['pools']
  workspaces: readonly OperatedWorkspace[]
  onDone: () => void
}) {
  const [kind, setKind] = useState<Rule['kind']>(rule?.kind ?? 'workspace')
  const save = useWrite<Rule, Rule>((body) => [PATH, { method: 'PUT', body }], {
    done: ({ pool }) => t('The pool {pool} serves them from the next call on', { pool }),
    changes: [PATH],
    quiet: true,
    onDone,
  })
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault()
    const form = event.currentTarget
    const { key = '', pool = '' } = Object.fromEntries(new FormData(form)) as Record<string, string>
    save.mutate({ kind, key: rule?.key ?? key, pool }, { onSuccess: () => form.reset() })
  }
  return (
    <form className="space-y-3" onSubmit={submit}>
      <div className="grid gap-3 sm:grid-cols-[10rem_minmax(0,1fr)_12rem_auto] sm:items-start">
        <Field label={t('Whose calls')}>
          <Select
            disabled={rule !== undefined}
            onChange={({ target }) => setKind(KINDS.find((one) => one === target.value) ?? 'workspace')}
            value={kind}
          >
            {KINDS.map((one) => (
              <option key={one} value={one}>
                {formatWord(one)}
              </option>
            ))}
          </Select>
        </Field>
        <Field
          fault={faultOf(save.error, 'key')}
          label={kind === 'region' ? t('Your numbers begin with') : t('Which one')}
        >
          {kind === 'workspace' && rule === undefined ? (
            <Select name="key">
              {workspaces.map(({ workspace_id, name }) => (
                <option key={workspace_id} value={workspace_id}>
                  {name}
                </option>
              ))}
            </Select>
          ) : (
            <Input
              defaultValue={rule?.key ?? ''}
              disabled={rule !== undefined}
              maxLength={36}
              name="key"
              placeholder={kind === 'region' ? '+49' : t('The id of the agent')}
              required
            />
          )}
        </Field>
        <Field fault={faultOf(save.error, 'pool')} label={t('Pool')}>
          <Input defaultValue={rule?.pool ?? ''} list="worker-pools" name="pool" placeholder="eu" required />
        </Field>
        <Button busy={save.isPending} className="sm:mt-6" kind="primary" type="submit">
          {rule === undefined ? t('Give to the pool') : t('Save')}
        </Button>
      </div>
      <datalist id="worker-pools">
        {pools
          .filter(({ pool }) => pool !== '')
          .map(({ pool }) => (
            <option key={pool} value={pool} />
          ))}
      </datalist>
      <Fault error={save.error} />
    </form>
  )
}
