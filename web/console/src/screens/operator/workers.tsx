import { useState } from 'react'
import { formatBytes, formatCount, formatMs, formatShare, formatWord } from '../../data/format.ts'
import { useRead, useWrite } from '../../data/queries.ts'
import type { WorkloadReport } from '../../data/types.ts'
import { t } from '../../language/t.ts'
import { Button } from '../../ui/button.tsx'
import { Confirm } from '../../ui/confirm.tsx'
import { Fault } from '../../ui/fault.tsx'
import { Badge, Card, Empty, Loading, Notice, Stat } from '../../ui/layout.tsx'
import { Table } from '../../ui/table.tsx'
import { WorkerPools } from './worker-pools.tsx'

type Worker = WorkloadReport['workers'][number]

const EVERY_MS = 3_000
const TONES = { ready: 'good', draining: 'warn', overloaded: 'warn', unreachable: 'bad' } as const

/** A worker that was asked to drain here, and who was there beside it then. */
interface Drain {
  readonly workerId: string
  readonly others: readonly string[]
}

/** The voice workers and their load; each can be drained. */
export function Workers() {
  const { data, error } = useRead<WorkloadReport>('/operator/workers', { everyMs: EVERY_MS })
  const [asked, setAsked] = useState<Worker>()
  const [drains, setDrains] = useState<readonly Drain[]>([])
  const drain = useWrite<{ detail: string }, string>(
    (id) => [`/operator/workers/${encodeURIComponent(id)}/drain`, { method: 'POST' }],
    {
      changes: ['/operator/workers'],
      onDone: (_, workerId) => {
        const others = (data?.workers ?? []).map((worker) => worker.worker_id)
        setDrains((before) => [...before.filter((one) => one.workerId !== workerId), { workerId, others }])
      },
    },
  )
  if (error) return <Fault error={error} />
  if (data === undefined) return <Loading />
  return (
    <div className="space-y-4">
      <Card>
        <div className="grid grid-cols-2 gap-5 sm:grid-cols-4">
          <Stat label={t('Voice workers')} value={formatCount(data.totals.workers)} />
          <Stat label={t('Sessions')} value={formatCount(data.totals.active_sessions)} />
          <Stat label={t('Seats')} value={formatCount(data.totals.capacity)} />
          <Stat label={t('Used')} value={formatShare(data.totals.utilization)} />
        </div>
      </Card>
      {drains.map((one) => (
        <Progress
          drain={one}
          key={one.workerId}
          onClose={() => setDrains((all) => all.filter((other) => other !== one))}
          workers={data.workers}
        />
      ))}
      <Card flush>
        {data.workers.length === 0 ? (
          <Empty icon="workers" title={t('No voice worker is linked')}>
            {t('Start one with: npm run patchbay voice')}
          </Empty>
        ) : (
          <Table
            columns={[
              {
                name: t('Worker'),
                cell: (worker) => (
                  <>
                    <span className="block max-w-[45vw] truncate pt-1.5 font-medium md:max-w-none md:pt-0">
                      {worker.worker_id}
                    </span>
                    <span className="flex items-center gap-2 pb-1.5 text-xs text-muted md:hidden">
                      <State worker={worker} /> {seatsOf(worker)}
                    </span>
                  </>
                ),
              },
              { name: t('State'), wide: true, cell: (worker) => <State worker={worker} /> },
              { name: t('Sessions'), align: 'end', wide: true, cell: seatsOf },
              { name: 'CPU', align: 'end', wide: true, cell: ({ cpu_utilization }) => formatShare(cpu_utilization) },
              { name: t('Memory'), align: 'end', wide: true, cell: ({ memory_bytes }) => formatBytes(memory_bytes) },
              {
                name: t('Loop lag'),
                align: 'end',
                wide: true,
                cell: ({ event_loop_lag_ms }) => formatMs(event_loop_lag_ms),
              },
              {
                name: t('Turn p50'),
                align: 'end',
                wide: true,
                cell: ({ turn_latency_p50_ms }) => formatMs(turn_latency_p50_ms),
              },
              {
                name: t('Turn p95'),
                align: 'end',
                wide: true,
                cell: ({ turn_latency_p95_ms }) => formatMs(turn_latency_p95_ms),
              },
              {
                name: t('Version'),
                align: 'end',
                wide: true,
                cell: ({ version, commit }) => <span title={commit ?? undefined}>{version ?? '–'}</span>,
              },
              {
                name: '',
                align: 'end',
                cell: (worker) => (
                  <Button
                    aria-label={t('Drain {name}', { name: worker.worker_id })}
                    disabled={worker.state === 'draining'}
                    onClick={() => setAsked(worker)}
                    size="sm"
                  >
                    {t('Drain')}
                  </Button>
                ),
              },
            ]}
            label={t('Voice workers')}
            rowKey={({ worker_id }) => worker_id}
            rows={data.workers}
          />
        )}
      </Card>
      <WorkerPools />
      <Confirm
        action={t('Drain')}
        onClose={() => setAsked(undefined)}
        onConfirm={() => drain.mutateAsync(asked?.worker_id ?? '')}
        open={asked !== undefined}
        title={t('Drain {name}?', { name: asked?.worker_id })}
      >
        <p>
          {t(
            'It takes no new call, its calls go on, and it ends with the last of them. Whatever keeps it running, such as npm start, systemd or Kubernetes, starts a fresh one in its place; by hand, nothing does.',
          )}
        </p>
        {isLast(asked, data.workers) && (
          <div className="mt-3">
            <Notice tone="warn">
              {t('No other worker takes calls now: new ones wait, or are refused, until a fresh one is there.')}
            </Notice>
          </div>
        )}
      </Confirm>
    </div>
  )
}

function State({ worker: { state } }: { worker: Worker }) {
  return <Badge tone={TONES[state]}>{formatWord(state)}</Badge>
}

const seatsOf = ({ active_sessions, capacity }: Worker): string =>
  t('{n} of {all}', { n: formatCount(active_sessions), all: formatCount(capacity) })

function isLast(asked: Worker | undefined, workers: readonly Worker[]): boolean {
  return !workers.some(({ worker_id, state }) => worker_id !== asked?.worker_id && state === 'ready')
}

/** How far the draining of one worker is. */
function Progress({
  drain: { workerId, others },
  workers,
  onClose,
}: {
  drain: Drain
  workers: readonly Worker[]
  onClose: () => void
}) {
  const name = workerId
  const worker = workers.find(({ worker_id }) => worker_id === workerId)
  const fresh = workers.find(({ worker_id }) => !others.includes(worker_id))
  const close = <Button aria-label={t('Close')} icon="close" kind="quiet" onClick={onClose} size="sm" />
  if (worker !== undefined) {
    const calls = worker.active_sessions ?? 0
    return (
      <Notice tone="accent">
        <span role="status">
          {calls === 0
            ? t('{name} has no call left and ends', { name })
            : calls === 1
              ? t('{name} takes no new call; 1 goes on', { name })
              : t('{name} takes no new call; {n} go on', { name, n: formatCount(calls) })}
        </span>
      </Notice>
    )
  }
  return (
    <Notice action={close} tone={fresh === undefined ? 'neutral' : 'good'}>
      <span role="status">
        {fresh === undefined
          ? t('{name} has ended. None has taken its place yet', { name })
          : t('{name} has ended, and {fresh} has taken its place', { name, fresh: fresh.worker_id })}
      </span>
    </Notice>
  )
}
