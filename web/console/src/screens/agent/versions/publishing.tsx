import { type FormEvent, useState } from 'react'
import { useRead, useWrite } from '../../../data/queries.ts'
import type { Agent, AgentInput, AgentTest, AgentVersion, VersionDiff } from '../../../data/types.ts'
import { t } from '../../../language/t.ts'
import { Button } from '../../../ui/button.tsx'
import { Dialog } from '../../../ui/dialog.tsx'
import { Fault } from '../../../ui/fault.tsx'
import { Field, Input, Select } from '../../../ui/field.tsx'
import { Card, Loading, Notice } from '../../../ui/layout.tsx'
import type { Draft } from '../agent.tsx'
import { Changes } from './changes.tsx'

/** When changes reach callers; where somebody decides that, the place to do so. */
export function Publishing({ draft: { agent, saved, change, isChanged, isReadOnly } }: { draft: Draft }) {
  const isManual = agent.publishing === 'manual'
  return (
    <Card title={t('Publishing')}>
      <div className="space-y-4">
        <Field
          hint={
            isManual
              ? t('Calls go on with the live version while the draft changes.')
              : t('Each time you save makes a version that the next call gets.')
          }
          label={t('A change is live')}
        >
          <Select
            disabled={isReadOnly}
            onChange={({ target }) => change({ publishing: target.value as NonNullable<AgentInput['publishing']> })}
            value={agent.publishing}
          >
            <option value="immediate">{t('once it is saved')}</option>
            <option value="manual">{t('once it is published')}</option>
          </Select>
        </Field>
        {!isManual && saved.unpublished_changes && (
          <Notice tone="warn">{t('Once this is saved, the unpublished changes are live.')}</Notice>
        )}
        {saved.publishing === 'manual' && (
          <PublishForm isChanged={isChanged} isReadOnly={isReadOnly} key={saved.version} saved={saved} />
        )}
      </div>
    </Card>
  )
}

function PublishForm({ saved, isChanged, isReadOnly }: { saved: Agent; isChanged: boolean; isReadOnly: boolean }) {
  const { agent_id, version, unpublished_changes } = saved
  const [note, setNote] = useState('')
  const [tag, setTag] = useState('')
  const [isShown, setShown] = useState(false)
  const { data: tests = [] } = useRead<AgentTest[]>('/tests', { query: { agent_id } })
  const tags = [...new Set(tests.flatMap(({ tags }) => tags))].sort()
  const publish = useWrite<AgentVersion>(
    () => [`/agents/${agent_id}/publish`, { method: 'POST', body: { note, ...(tag && { require_tests: tag }) } }],
    {
      changes: ['/agents'],
      done: ({ version }) => t('Version {version} is live', { version }),
      quiet: true,
    },
  )
  const submit = (event: FormEvent) => {
    event.preventDefault()
    publish.mutate()
  }
  if (!unpublished_changes) {
    return <p className="text-sm text-muted">{t('The draft is as version {version}, which is live.', { version })}</p>
  }
  return (
    <form className="space-y-4 border-t border-line pt-4" onSubmit={submit}>
      <div className="flex flex-wrap items-center justify-between gap-2">
        <p className="text-sm">{t('The draft differs from version {version}, which is live.', { version })}</p>
        {version !== null && (
          <Button onClick={() => setShown(true)} size="sm">
            {t('Show what differs')}
          </Button>
        )}
      </div>
      {!isReadOnly && (
        <>
          <div className="grid gap-4 sm:grid-cols-2">
            <Field hint={t('What changed, for the history.')} label={t('Note')}>
              <Input maxLength={2_000} onChange={({ target }) => setNote(target.value)} value={note} />
            </Field>
            {tags.length > 0 && (
              <Field hint={t('They run over the draft first.')} label={t('Only when these tests pass')}>
                <Select onChange={({ target }) => setTag(target.value)} value={tag}>
                  <option value="">{t('No tests')}</option>
                  {tags.map((one) => (
                    <option key={one}>{one}</option>
                  ))}
                </Select>
              </Field>
            )}
          </div>
          <Fault error={publish.error} />
          <div className="flex flex-wrap items-center justify-end gap-3">
            {isChanged && (
              <span className="text-sm text-muted">{t('Save first: only what is saved is published.')}</span>
            )}
            <Button busy={publish.isPending} disabled={isChanged} kind="primary" type="submit">
              {t('Publish')}
            </Button>
          </div>
        </>
      )}
      {isShown && version !== null && (
        <DraftChanges agentId={agent_id} live={version} onClose={() => setShown(false)} />
      )}
    </form>
  )
}

function DraftChanges({ agentId, live, onClose }: { agentId: string; live: number; onClose: () => void }) {
  const { data, error } = useRead<VersionDiff>(`/agents/${agentId}/versions/${live}/diff`, {
    query: { against: 'draft' },
  })
  return (
    <Dialog
      lead={t('− in version {version}, + in the draft', { version: live })}
      onClose={onClose}
      open
      title={t('What publishing changes')}
      wide
    >
      <Fault error={error} />
      {data ? <Changes changes={data.changes} isBack /> : !error && <Loading />}
    </Dialog>
  )
}
