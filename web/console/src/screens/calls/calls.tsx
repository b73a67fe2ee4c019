import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { formatCount, formatDayTime } from '../../data/format.ts'
import { useRead } from '../../data/queries.ts'
import { lastDays } from '../../data/spans.ts'
import type { Call, Page } from '../../data/types.ts'
import { t } from '../../language/t.ts'
import { buttonClass } from '../../ui/button.tsx'
import { Icon } from '../../ui/icon.tsx'
import { Empty, PageHead } from '../../ui/layout.tsx'
import type { Filters } from '../../ui/list/saved-filters.tsx'
import { useListSearch } from '../../ui/list/use-list-search.ts'
import { PagedList } from '../../ui/list/work-list.tsx'
import { CallStatus, partyOf } from '../call-status.tsx'
import { CallPanel } from './call-panel.tsx'
import { CALL_COLUMNS } from './columns.tsx'
import { FilterBar } from './filter-bar.tsx'

const FILTERS = ['agent_id', 'status', 'call_type', 'direction', 'since', 'campaign', 'batch_id', 'disposition']
const EVERY_MS = 5_000
const MIN_DIGITS = 3

type Query = Readonly<Record<string, string>>

/** Every call, newest first. The filters are in the address, so that they can be shared; what is searched for is not. */
export function Screen() {
  const { filters, sorting, sorted, change, replace } = useListSearch(FILTERS)
  const [sought, setSought] = useState('')
  const [total, setTotal] = useState<number>()
  const query = queryOf(filters, sought)
  const isFiltered = Object.keys(filters).length > 0 || sought !== ''
  return (
    <>
      <PageHead
        actions={
          <>
            <LiveNow />
            <a className={buttonClass()} download="calls.csv" href={`/calls/export-csv?${new URLSearchParams(query)}`}>
              <Icon name="download" size={16} /> CSV
            </a>
          </>
        }
        lead={total === undefined ? t('Every call, newest first.') : listedOf(total, isFiltered)}
        title={t('Calls')}
      />
      <FilterBar filters={filters} onChange={change} onReplace={replace} onSearch={setSought} sought={sought} />
      <PagedList<Call>
        columns={CALL_COLUMNS}
        compact={(call) => <CompactCall call={call} />}
        empty={isFiltered ? <NoMatch /> : <NoCalls />}
        everyMs={EVERY_MS}
        label={t('Calls')}
        name="calls"
        onTotal={setTotal}
        panel={(call) => <CallPanel call={call} />}
        path="/calls/logs"
        query={{ ...query, ...sorted }}
        rowKey={({ call_log_id }) => call_log_id}
        rowPath={({ call_log_id }) => `/calls/${call_log_id}`}
        sorting={sorting}
      />
    </>
  )
}

function CompactCall({ call }: { call: Call }) {
  return (
    <span className="flex items-center justify-between gap-2">
      <span className="truncate">
        {partyOf(call)} · {formatDayTime(call.created_at)}
      </span>
      <CallStatus call={call} />
    </span>
  )
}

function NoMatch() {
  return (
    <Empty icon="search" title={t('No call matches')}>
      {t('Take a filter away, or look further back.')}
    </Empty>
  )
}

function NoCalls() {
  return (
    <Empty
      action={
        <Link className={buttonClass('primary')} to="/agents">
          {t('Talk to an agent')}
        </Link>
      }
      icon="calls"
      title={t('No calls yet')}
    >
      {t('Each call appears here with its recording, transcript and timing.')}
    </Empty>
  )
}

/** The way to the calls that run, which may have begun long ago. */
function LiveNow() {
  const { data } = useRead<Page<Call>>('/calls/logs', {
    query: { status: 'in_progress', page_size: 1 },
    everyMs: EVERY_MS,
  })
  if (data === undefined || data.total === 0) return null
  return (
    <Link className={buttonClass()} to="/live">
      <span className="size-1.5 animate-[pulse-dot_1.6s_ease-in-out_infinite] rounded-full bg-accent" />
      {t('{n} live', { n: formatCount(data.total) })}
    </Link>
  )
}

function queryOf({ since, ...filters }: Filters, sought: string): Query {
  return {
    ...filters,
    ...(since ? { start_date: new Date(lastDays(since).startMs).toISOString() } : {}),
    ...searchOf(sought),
  }
}

/** Digits and what people write between them are a number, anything else is words. */
function searchOf(sought: string): Query {
  if (!/^[\d\s()+./-]*$/.test(sought)) return { q: sought }
  return sought.replace(/\D/g, '').length >= MIN_DIGITS ? { number: sought } : {}
}

function listedOf(total: number, isFiltered: boolean): string {
  const n = formatCount(total)
  if (isFiltered) return total === 1 ? t('1 call matches') : t('{n} calls match, newest first', { n })
  return total === 1 ? t('1 call') : t('{n} calls, newest first', { n })
}
