import { Link, useNavigate, useSearch } from '@tanstack/react-router'
import { useState } from 'react'
import { formatCount, formatDayTime, formatDuration, formatMs, formatUsd, formatWord } from '../data/format.ts'
import { useRead } from '../data/queries.ts'
import type { Agent, Call, Page } from '../data/types.ts'
import { t } from '../language/t.ts'
import { Button, buttonClass } from '../ui/button.tsx'
import { Input, Select } from '../ui/field.tsx'
import { Icon } from '../ui/icon.tsx'
import { Card, Empty, PageHead } from '../ui/layout.tsx'
import { VirtualList } from '../ui/virtual-list.tsx'
import { CallStatus, partyOf } from './call-status.tsx'

const FILTERS = [
  'agent_id',
  'status',
  'call_type',
  'direction',
  'since',
  'campaign',
  'batch_id',
  'disposition',
] as const
type Filters = Partial<Record<(typeof FILTERS)[number], string>>
const STATUSES = ['queued', 'ringing', 'in_progress', 'completed', 'failed', 'busy', 'no_answer', 'canceled']
const EVERY_MS = 5_000
const DAY_MS = 86_400_000
const SPANS = [
  ['1', t('Last 24 hours')],
  ['7', t('Last 7 days')],
  ['30', t('Last 30 days')],
  ['90', t('Last 90 days')],
] as const
const COLUMNS =
  'grid h-full items-center gap-3 px-4 grid-cols-[minmax(0,1fr)_auto] md:grid-cols-[minmax(0,1fr)_11rem_7rem_5rem_9rem] xl:grid-cols-[minmax(0,1fr)_11rem_7rem_5rem_6rem_5.5rem_9rem] 2xl:grid-cols-[minmax(0,1fr)_13rem_7rem_10rem_5rem_6rem_6rem_10rem]'

/** Every call, newest first. The filters are in the address, so that they can be shared; the number sought is not. */
export function Screen() {
  const search = useSearch({ strict: false })
  const navigate = useNavigate()
  const [number, setNumber] = useState('')
  const [total, setTotal] = useState<number>()
  const filters: Filters = Object.fromEntries(
    FILTERS.flatMap((name) => (search[name] === undefined ? [] : [[name, String(search[name])]])),
  )
  const query = queryOf(filters, number)
  const set = (change: Filters) => {
    const next = Object.fromEntries(Object.entries({ ...filters, ...change }).filter(([, value]) => value))
    void navigate({ to: '/calls', search: next, replace: true })
  }
  const isFiltered = Object.keys(filters).length > 0 || number !== ''
  return (
    <>
      <PageHead
        actions={
          <>
            <LiveNow />
            <a
              className={buttonClass()}
              download="calls.csv"
              href={`/calls/export-csv?${new URLSearchParams(definedOf(query))}`}
            >
              <Icon name="download" size={16} /> CSV
            </a>
          </>
        }
        lead={total === undefined ? t('Every call, newest first.') : listedOf(total, isFiltered)}
        title={t('Calls')}
      />
      <FilterBar filters={filters} isFiltered={isFiltered} number={number} onChange={set} onNumber={setNumber} />
      <Card flush>
        <VirtualList<Call>
          empty={
            isFiltered ? (
              <Empty icon="search" title={t('No call matches')}>
                {t('Take a filter away, or look further back.')}
              </Empty>
            ) : (
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
          everyMs={EVERY_MS}
          head={<Head />}
          key={JSON.stringify(query)}
          label={t('Calls')}
          onTotal={setTotal}
          path="/calls/logs"
          query={query}
          row={(call) => <Row call={call} />}
          rowKey={({ call_log_id }) => call_log_id}
        />
      </Card>
    </>
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

function queryOf({ since, ...filters }: Filters, number: string): Record<string, string | undefined> {
  // By the minute: an instant of its own for each drawing would be another list each time.
  const nowMs = Math.floor(Date.now() / 60_000) * 60_000
  return {
    ...filters,
    ...(since ? { start_date: new Date(nowMs - Number(since) * DAY_MS).toISOString() } : {}),
    ...(number.length >= 3 ? { number } : {}),
  }
}

function listedOf(total: number, isFiltered: boolean): string {
  const n = formatCount(total)
  if (isFiltered) return total === 1 ? t('1 call matches') : t('{n} calls match, newest first', { n })
  return total === 1 ? t('1 call') : t('{n} calls, newest first', { n })
}

const definedOf = (query: Record<string, string | undefined>) =>
  Object.fromEntries(Object.entries(query).filter((entry): entry is [string, string] => entry[1] !== undefined))

interface FilterBarProps {
  filters: Filters
  number: string
  isFiltered: boolean
  onChange: (change: Filters) => void
  onNumber: (number: string) => void
}

function FilterBar({ filters, number, isFiltered, onChange, onNumber }: FilterBarProps) {
  const { data: agents } = useRead<Agent[]>('/agents')
  const choose = (name: keyof Filters) => ({
    value: filters[name] ?? '',
    onChange: (event: { target: { value: string } }) => onChange({ [name]: event.target.value }),
    className: 'w-auto! max-w-56',
  })
  return (
    <div className="mb-4 flex flex-wrap gap-2">
      <Input
        aria-label={t('Number')}
        className="w-44!"
        inputMode="tel"
        onChange={(event) => onNumber(event.target.value.trim())}
        placeholder={t('Number or part of it')}
        value={number}
      />
      <Select aria-label={t('Agent')} {...choose('agent_id')}>
        <option value="">{t('All agents')}</option>
        {agents?.map(({ agent_id, agent_name }) => (
          <option key={agent_id} value={agent_id}>
            {agent_name}
          </option>
        ))}
      </Select>
      <Select aria-label={t('Status')} {...choose('status')}>
        <option value="">{t('Any status')}</option>
        {STATUSES.map((status) => (
          <option key={status} value={status}>
            {status === 'in_progress' ? t('Live') : formatWord(status)}
          </option>
        ))}
      </Select>
      <Select aria-label={t('Kind')} {...choose('call_type')}>
        <option value="">{t('Phone and web')}</option>
        <option value="phone">{t('Phone')}</option>
        <option value="web">{t('Web')}</option>
      </Select>
      <Select aria-label={t('Direction')} {...choose('direction')}>
        <option value="">{t('In and out')}</option>
        <option value="inbound">{t('Inbound')}</option>
        <option value="outbound">{t('Outbound')}</option>
      </Select>
      <Select aria-label={t('Time')} {...choose('since')}>
        <option value="">{t('Any time')}</option>
        {SPANS.map(([days, label]) => (
          <option key={days} value={days}>
            {label}
          </option>
        ))}
      </Select>
      {(['campaign', 'batch_id', 'disposition'] as const).map(
        (name) =>
          filters[name] && (
            <Button key={name} onClick={() => onChange({ [name]: '' })}>
              {formatWord(name.replace('_id', ''))}: {name === 'batch_id' ? t('one') : filters[name]}
              <Icon name="close" size={14} />
            </Button>
          ),
      )}
      {isFiltered && (
        <Button
          kind="quiet"
          onClick={() => {
            onNumber('')
            onChange(Object.fromEntries(FILTERS.map((name) => [name, ''])))
          }}
        >
          {t('Clear')}
        </Button>
      )}
    </div>
  )
}

function Head() {
  return (
    <div aria-hidden="true" className={`${COLUMNS} h-9! text-xs font-medium text-muted`}>
      <span>{t('Agent')}</span>
      <span className="hidden md:block">{t('With')}</span>
      <span className="text-right md:text-left">{t('Status')}</span>
      <span className="hidden 2xl:block">{t('Outcome')}</span>
      <span className="hidden text-right md:block">{t('Length')}</span>
      <span className="hidden text-right xl:block">{t('Turn p50')}</span>
      <span className="hidden text-right xl:block">{t('Cost')}</span>
      <span className="hidden text-right md:block">{t('When')}</span>
    </div>
  )
}

function Row({ call }: { call: Call }) {
  const { direction, call_type } = call
  return (
    <Link className={`${COLUMNS} hover:bg-sunken/60`} params={{ callId: call.call_log_id }} to="/calls/$callId">
      <span className="min-w-0">
        <span className="block truncate font-medium">{call.agent_name}</span>
        <span className="block truncate text-xs text-muted md:hidden">
          {partyOf(call)} · {formatDayTime(call.created_at)}
        </span>
      </span>
      <span className="hidden min-w-0 truncate text-sm md:block">
        {call_type === 'phone' && <span className="text-muted">{direction === 'inbound' ? t('from') : t('to')} </span>}
        {partyOf(call)}
      </span>
      <span className="text-right md:text-left">
        <CallStatus call={call} />
      </span>
      <span className="hidden truncate text-sm text-muted 2xl:block">{formatWord(call.disposition)}</span>
      <span className="hidden text-right text-sm md:block">{formatDuration(lengthOf(call))}</span>
      <span className="hidden text-right text-sm xl:block">{formatMs(call.latency.p50_ms)}</span>
      <span className="hidden text-right text-sm xl:block">{formatUsd(call.cost.total_cost)}</span>
      <span className="hidden truncate text-right text-sm text-muted md:block">{formatDayTime(call.created_at)}</span>
    </Link>
  )
}

/** A running call's length counts with each reading of the list. */
function lengthOf({ duration, status, answered_at }: Call): number | null {
  if (status !== 'in_progress' || answered_at === null) return duration
  return Math.max(0, Math.round((Date.now() - Date.parse(answered_at)) / 1000))
}
