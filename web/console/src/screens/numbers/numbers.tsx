import { type ReactNode, useState } from 'react'
import { formatAgo, formatInstant } from '../../data/format.ts'
import { useRead } from '../../data/queries.ts'
import { useSession } from '../../data/session.tsx'
import type { Agent, PhoneNumber } from '../../data/types.ts'
import { t } from '../../language/t.ts'
import { Button } from '../../ui/button.tsx'
import { Fault } from '../../ui/fault.tsx'
import { FilterSelect } from '../../ui/filter-select.tsx'
import { Empty, Facts, Loading } from '../../ui/layout.tsx'
import type { ListColumn } from '../../ui/list/columns.tsx'
import { holdsAll } from '../../ui/list/holds-all.ts'
import { SavedFilters } from '../../ui/list/saved-filters.tsx'
import { SearchInput } from '../../ui/list/search-input.tsx'
import { useListSearch } from '../../ui/list/use-list-search.ts'
import { WholeList } from '../../ui/list/work-list.tsx'
import { TabbedPage } from '../../ui/tabbed-page.tsx'
import { Trunks } from '../trunks.tsx'
import { AddNumber } from './add-number.tsx'
import { ActionsOf, AgentOf, CARRIERS, CarrierOf } from './number-cells.tsx'

export function Screen() {
  return (
    <TabbedPage
      lead={t('Where callers reach your agents, and over which lines.')}
      path="/numbers"
      tabs={[
        ['numbers', t('Phone numbers'), <Numbers key="numbers" />],
        ['trunks', t('SIP trunks'), <Trunks key="trunks" />],
      ]}
      title={t('Numbers and trunks')}
    />
  )
}

const COLUMNS: readonly ListColumn<PhoneNumber>[] = [
  {
    id: 'number',
    name: t('Number'),
    width: '10rem',
    cell: ({ phone_number }) => phone_number,
    sortValue: ({ phone_number }) => phone_number,
  },
  {
    id: 'carrier',
    name: t('Carrier'),
    width: 'minmax(7rem,1fr)',
    fromPx: 720,
    cell: (number) => <CarrierOf number={number} />,
    sortValue: ({ provider, trunk }) => `${provider} ${trunk ?? ''}`,
  },
  { id: 'agent', name: t('Answered by'), width: 'minmax(8rem,1fr)', cell: (number) => <AgentOf number={number} /> },
  {
    id: 'added',
    name: t('Added'),
    width: '8rem',
    fromPx: 720,
    align: 'end',
    cell: ({ created_at }) => <span className="text-muted">{formatAgo(created_at)}</span>,
    sortValue: ({ created_at }) => created_at,
  },
  {
    id: 'actions',
    hasHiddenHead: true,
    name: t('Actions'),
    width: '4.5rem',
    align: 'end',
    cell: (number) => <ActionsOf number={number} />,
  },
]

function Numbers() {
  const { may } = useSession()
  const { data: numbers, error, refetch } = useRead<PhoneNumber[]>('/phone-numbers')
  const { data: agents } = useRead<Agent[]>('/agents')
  const { filters, sorting, change, replace } = useListSearch(['agent_id', 'provider'])
  const [adding, setAdding] = useState<'register' | 'buy'>()
  const [sought, setSought] = useState('')
  const nameOf = (id: string | null) => agents?.find(({ agent_id }) => agent_id === id)?.agent_name ?? t('Nobody')
  const actions = may('developer') && (
    <>
      <Button icon="plus" kind="primary" onClick={() => setAdding('register')}>
        {t('Register a number')}
      </Button>
      <Button onClick={() => setAdding('buy')}>{t('Buy a number')}</Button>
    </>
  )
  return (
    <>
      <Fault error={error} retry={() => void refetch()} />
      {numbers === undefined ? (
        !error && <Loading />
      ) : (
        <>
          {numbers.length > 0 && (
            <div className="mb-4 flex flex-wrap items-center gap-2">
              <SearchInput
                className="w-auto! min-w-44 flex-1 sm:max-w-72"
                label={t('Search numbers')}
                onSearch={setSought}
                placeholder={t('Part of a number, agent or carrier')}
                value={sought}
              />
              <FilterSelect
                all={t('All carriers')}
                label={t('Carrier')}
                onChange={(provider) => change({ provider })}
                options={[...new Set(numbers.map(({ provider }) => provider))].map((one) => [
                  one,
                  CARRIERS[one] ?? one,
                ])}
                value={filters.provider ?? ''}
              />
              <FilterSelect
                all={t('All agents')}
                label={t('Answered by')}
                onChange={(agent_id) => change({ agent_id })}
                options={agents?.map(({ agent_id, agent_name }) => [agent_id, agent_name] as const) ?? []}
                value={filters.agent_id ?? ''}
              />
              <SavedFilters filters={filters} list="numbers" onChoose={replace} />
              <div className="flex flex-wrap gap-2 lg:ml-auto">{actions}</div>
            </div>
          )}
          <WholeList
            columns={COLUMNS}
            compact={({ provider, agent_id }) => `${CARRIERS[provider] ?? provider} · ${nameOf(agent_id)}`}
            empty={numbers.length > 0 ? <NoMatch /> : <NoNumbers actions={actions} />}
            label={t('Phone numbers')}
            name="numbers"
            panel={(number) => <NumberPanel number={number} />}
            rowKey={({ phone_number }) => phone_number}
            rows={numbers.filter(
              ({ phone_number, provider, trunk, agent_id }) =>
                (filters.provider ?? provider) === provider &&
                (filters.agent_id ?? agent_id) === agent_id &&
                holdsAll([phone_number, CARRIERS[provider] ?? provider, trunk ?? '', nameOf(agent_id)], sought),
            )}
            sorting={sorting}
          />
        </>
      )}
      {adding && <AddNumber agents={agents ?? []} kind={adding} onClose={() => setAdding(undefined)} />}
    </>
  )
}

function NoMatch() {
  return (
    <Empty icon="search" title={t('No number matches')}>
      {t('Search for something else.')}
    </Empty>
  )
}

function NoNumbers({ actions }: { actions: ReactNode }) {
  return (
    <Empty action={actions} icon="numbers" title={t('No phone numbers')}>
      {t('Register a number you have with a carrier or on a SIP trunk, and say which agent answers it.')}
    </Empty>
  )
}

function NumberPanel({ number }: { number: PhoneNumber }) {
  return (
    <>
      <div className="flex items-center justify-between gap-2">
        <p className="text-md font-semibold">{number.phone_number}</p>
        <ActionsOf number={number} />
      </div>
      <Facts
        rows={[
          [t('Carrier'), <CarrierOf key="carrier" number={number} />],
          [t('Answered by'), <AgentOf key="agent" number={number} />],
          [t('Added'), formatInstant(number.created_at)],
        ]}
      />
    </>
  )
}
