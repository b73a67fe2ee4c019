import { formatCount, formatMs, formatShare, formatUsd } from '../../../data/format.ts'
import type { Rollout } from '../../../data/types.ts'
import { t } from '../../../language/t.ts'
import { Badge } from '../../../ui/layout.tsx'
import { Table } from '../../../ui/table.tsx'
import { guardFigureName, type VersionFigures } from './figures.ts'

type Interval = VersionFigures['success']

interface Row {
  readonly figure: string
  readonly of: (figures: VersionFigures) => Interval | null
  readonly format: (value: number | null | undefined) => string
}

const ROWS: readonly Row[] = [
  { figure: 'success', of: ({ success }) => success, format: formatShare },
  { figure: 'faults', of: ({ faults }) => faults, format: formatShare },
  { figure: 'latency_p95', of: ({ latency_p95_ms }) => latency_p95_ms, format: formatMs },
  { figure: 'cost', of: ({ cost_usd }) => cost_usd, format: formatUsd },
]

/** What the calls of each version came to, version beside version. */
export function RolloutFigures({ rollout: { versions, guard } }: { rollout: Rollout }) {
  const guarded = guard?.figure ?? ''
  const own = guarded.startsWith('disposition:')
    ? [{ figure: guarded, of: ({ disposition }: VersionFigures) => disposition, format: formatShare }]
    : []
  const calls: Row = { figure: 'calls', of: () => null, format: formatCount }
  return (
    <Table<Row>
      columns={[
        {
          name: t('Figure'),
          cell: ({ figure }) => (
            <span className="flex flex-wrap items-center gap-x-2">
              {figure === 'calls' ? t('Calls') : guardFigureName(figure)}
              {figure === guarded && <Badge tone="accent">{t('Guarded')}</Badge>}
            </span>
          ),
        },
        ...versions.map((figures) => ({
          name: t('Version {version}', { version: figures.version }),
          align: 'end' as const,
          cell: (row: Row) =>
            row.figure === 'calls' ? formatCount(figures.calls) : <Estimate {...{ row, figures }} />,
        })),
      ]}
      label={t('Figures of each version')}
      rowKey={({ figure }) => figure}
      rows={[calls, ...own, ...ROWS]}
    />
  )
}

function Estimate({ row: { of, format }, figures }: { row: Row; figures: VersionFigures }) {
  const { value, low, high } = of(figures) ?? {}
  return (
    <>
      {format(value)}{' '}
      {value != null && low != null && high != null && (
        <span className="block text-xs text-muted sm:ml-1 sm:inline">
          {t('{low} to {high}', { low: format(low), high: format(high) })}
        </span>
      )}
    </>
  )
}
