import { useState } from 'react'
import { ApiError } from '../../../data/api.ts'
import { formatAgo, formatCount, formatList, formatShare } from '../../../data/format.ts'
import { useRead, useWrite } from '../../../data/queries.ts'
import type { AgentVersion, Page, Rollout } from '../../../data/types.ts'
import { t } from '../../../language/t.ts'
import { Button } from '../../../ui/button.tsx'
import { Confirm } from '../../../ui/confirm.tsx'
import { Fault } from '../../../ui/fault.tsx'
import { Badge, Card, Facts, Loading, Notice } from '../../../ui/layout.tsx'
import type { Draft } from '../agent.tsx'
import { guardFigureName } from './figures.ts'
import { RolloutDialog } from './rollout-dialog.tsx'
import { RolloutFigures } from './rollout-figures.tsx'

const EVERY_MS = 5_000
const MOST_VERSIONS = 100

/** Which of the calls get which version, and what they came to. */
export function RolloutCard({ draft: { saved, isReadOnly } }: { draft: Draft }) {
  const path = `/agents/${saved.agent_id}/rollout`
  const { data, error, refetch } = useRead<Rollout>(path, {
    everyMs: ({ state }) => state.status === 'success' && EVERY_MS,
  })
  const { data: versions } = useRead<Page<AgentVersion>>(`/agents/${saved.agent_id}/versions`, {
    query: { page_size: MOST_VERSIONS },
  })
  const [isEdited, setEdited] = useState(false)
  const [isEnding, setEnding] = useState(false)
  const end = useWrite(() => [path, { method: 'DELETE' }], { changes: [path], done: t('The rollout has ended') })
  const isNone = error instanceof ApiError && error.code === 'rollout_not_found'
  const rollout = isNone ? undefined : data
  const items = versions?.items ?? []
  // What the form can say: the API takes more.
  const isOfTwo = rollout === undefined || rollout.split.length === 2
  return (
    <Card
      actions={
        !isReadOnly &&
        (rollout !== undefined || isNone) && (
          <>
            {isOfTwo && (
              <Button disabled={items.length < 2} onClick={() => setEdited(true)} size="sm">
                {rollout ? t('Change') : t('Start a rollout')}
              </Button>
            )}
            {rollout && (
              <Button kind="danger" onClick={() => setEnding(true)} size="sm">
                {t('End rollout')}
              </Button>
            )}
          </>
        )
      }
      flush
      title={
        <span className="flex items-center gap-2">
          {t('Rollout')}
          {rollout?.status === 'running' && (
            <Badge dot tone="accent">
              {t('Running')}
            </Badge>
          )}
          {rollout?.status === 'stopped' && <Badge tone="bad">{t('Stopped')}</Badge>}
        </span>
      }
    >
      {error && !isNone && <Fault error={error} retry={() => void refetch()} />}
      {rollout === undefined && !error && <Loading />}
      {isNone && (
        <p className="px-4 pb-4 text-sm text-muted">
          {items.length < 2
            ? t('With two versions you can give a part of the calls the later one first.')
            : t('All calls get the live version. A rollout gives a part of them another one first.')}
        </p>
      )}
      {rollout && <Standing rollout={rollout} />}
      {isEdited && (
        <RolloutDialog
          agent={saved}
          numbers={items.map(({ version }) => version)}
          onClose={() => setEdited(false)}
          {...(rollout ? { rollout } : {})}
        />
      )}
      <Confirm
        action={t('End rollout')}
        onClose={() => setEnding(false)}
        onConfirm={() => end.mutateAsync()}
        open={isEnding}
        title={t('End the rollout?')}
      >
        {t('All calls that begin from now on get version {version}, which is live.', { version: saved.version })}
      </Confirm>
    </Card>
  )
}

function Standing({ rollout }: { rollout: Rollout }) {
  const { split, rules, sticky, guard, stopped, started_at, started_by, versions } = rollout
  const calls = versions.reduce((sum, { calls }) => sum + calls, 0)
  const shares = split.map(({ version, weight }) =>
    t('version {version}: {share}', { version, share: formatShare(weight) }),
  )
  return (
    <>
      <div className="space-y-4 px-4 pb-4">
        {stopped && (
          <Notice tone="bad">
            {t(
              'Version {version} was worse ({figure}), {when}: all calls get version {serves} until you publish another version or set another rollout.',
              {
                version: stopped.version,
                figure: guardFigureName(guard?.figure ?? ''),
                when: formatAgo(stopped.at),
                serves: stopped.serves,
              },
            )}{' '}
            {t('The difference was {z}, the limit {boundary}.', {
              z: stopped.z.toFixed(2),
              boundary: stopped.boundary.toFixed(2),
            })}
          </Notice>
        )}
        <Facts
          rows={[
            [t('Split'), formatList(shares)],
            ...rules.map(
              ({ match: { attribute, operator, values }, version }, at) =>
                [
                  t('Rule {n}', { n: at + 1 }),
                  <>
                    <code>
                      {attribute} {operator} {values.join(', ')}
                    </code>{' '}
                    → {t('Version {version}', { version })}
                  </>,
                ] as const,
            ),
            [t('Each contact'), sticky === 'contact' ? t('gets the same version again') : t('is split call by call')],
            [t('Guard'), guard ? <Guarding calls={calls} guard={guard} /> : t('None: nothing stops it')],
            [t('Started'), `${started_by.name} · ${formatAgo(started_at)}`],
          ]}
        />
      </div>
      <RolloutFigures rollout={rollout} />
      <p className="border-t border-line px-4 py-2 text-xs text-muted">
        {t('Of calls that are over and that no rule decided, with intervals of 95 % confidence.')}
      </p>
    </>
  )
}

function Guarding({ guard, calls }: { guard: NonNullable<Rollout['guard']>; calls: number }) {
  const { figure, min_calls, planned_calls, z, boundary } = guard
  return (
    <>
      {t('{figure}: from {min} calls of each version on; {calls} of {planned} planned calls are over.', {
        figure: guardFigureName(figure),
        min: formatCount(min_calls),
        calls: formatCount(calls),
        planned: formatCount(planned_calls),
      })}
      {z !== null && boundary !== null && (
        <span className="block text-muted">
          {t('The difference is {z}; it stops at {boundary}.', { z: z.toFixed(2), boundary: boundary.toFixed(2) })}
        </span>
      )}
    </>
  )
}
