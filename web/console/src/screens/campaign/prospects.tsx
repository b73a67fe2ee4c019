import { useState } from 'react'
import { formatDayTime, formatWord } from '../../data/format.ts'
import { useSession } from '../../data/session.tsx'
import type { Prospect } from '../../data/types.ts'
import { said, t, wordOf } from '../../language/t.ts'
import { FilterSelect } from '../../ui/filter-select.tsx'
import { Badge, Card, Empty } from '../../ui/layout.tsx'
import type { ListColumn } from '../../ui/list/columns.tsx'
import { SavedFilters } from '../../ui/list/saved-filters.tsx'
import { SearchInput } from '../../ui/list/search-input.tsx'
import { sortedQuery } from '../../ui/list/use-list-search.ts'
import { PagedList, type Sorting } from '../../ui/list/work-list.tsx'
import { CallNoMore, ProspectPanel } from './prospect-panel.tsx'

const EVERY_MS = 4_000

/** Why somebody is held: the API's sentence, and in another language the word for it. */
const heldFor = ({ reason, sentence }: NonNullable<Prospect['held']>): string =>
  wordOf(reason) === undefined ? said(sentence) : formatWord(reason)

const nameOf = ({ first_name, last_name, primary_phone }: Prospect) =>
  `${first_name} ${last_name}`.trim() || primary_phone

function next({ held, next_attempt_at }: Prospect): string {
  if (held) return heldFor(held)
  return next_attempt_at ? t('Next try {next_attempt_at}', { next_attempt_at: formatDayTime(next_attempt_at) }) : ''
}

const triesOf = ({ attempts }: Prospect): string =>
  attempts === 0 ? '' : attempts === 1 ? t('1 try') : t('{attempts} tries', { attempts })

const COLUMNS: readonly ListColumn<Prospect>[] = [
  { id: 'name', name: t('Name'), width: 'minmax(7rem,1fr)', isSortable: true, cell: nameOf },
  { id: 'number', name: t('Number'), width: '8.5rem', cell: ({ primary_phone }) => primary_phone },
  {
    id: 'next_attempt_at',
    isSortable: true,
    name: t('Next step'),
    width: 'minmax(7rem,1.4fr)',
    cell: (prospect) => (
      <span className="text-muted" title={prospect.held ? said(prospect.held.sentence) : undefined}>
        {next(prospect)}
      </span>
    ),
  },
  {
    id: 'attempts',
    isSortable: true,
    name: t('Tries'),
    width: '4rem',
    align: 'end',
    cell: (prospect) => <span className="text-muted">{triesOf(prospect)}</span>,
  },
  {
    id: 'email',
    name: t('E-mail'),
    width: 'minmax(7rem,1fr)',
    isExtra: true,
    cell: ({ email }) => <span className="text-muted">{email}</span>,
  },
  {
    id: 'external_id',
    name: t('Your id'),
    width: '7rem',
    isExtra: true,
    cell: ({ external_id }) => <span className="text-muted">{external_id}</span>,
  },
  { id: 'status', name: t('Status'), width: '6.5rem', cell: (prospect) => <Standing prospect={prospect} /> },
]

const WITH_ACTIONS: readonly ListColumn<Prospect>[] = [
  ...COLUMNS,
  {
    id: 'actions',
    name: t('Actions'),
    width: '2rem',
    hasHiddenHead: true,
    cell: (prospect) => <CallNoMore prospect={prospect} />,
  },
]

function Standing({ prospect: { status, resolution, held } }: { prospect: Prospect }) {
  const tone = status === 'calling' ? 'accent' : resolution === 'reached' ? 'good' : held ? 'warn' : 'neutral'
  return <Badge tone={tone}>{formatWord(resolution ?? (held ? 'held' : status))}</Badge>
}

/** The people of a campaign, with what came of each and why one is held. */
export function Prospects({ slug }: { slug: string }) {
  const { may } = useSession()
  const [text, setText] = useState('')
  const [status, setStatus] = useState('')
  const [order, setOrder] = useState<Pick<Sorting, 'by' | 'isAscending'>>({ by: undefined, isAscending: false })
  const sorting: Sorting = { ...order, onSort: (by, isAscending) => setOrder({ by, isAscending }) }
  return (
    <Card
      actions={
        <>
          <FilterSelect
            all={t('Everybody')}
            label={t('Status')}
            onChange={setStatus}
            options={[
              ['waiting', t('Waiting')],
              ['calling', t('Calling')],
              ['resolved', t('Done')],
            ]}
            value={status}
          />
          <SavedFilters
            filters={status === '' ? {} : { status }}
            list="people"
            onChoose={(filters) => setStatus(filters.status ?? '')}
          />
          <SearchInput
            className="h-8! w-40!"
            label={t('Search people')}
            onSearch={setText}
            placeholder={t('Search')}
            value={text}
          />
        </>
      }
      flush
      title={t('People')}
    >
      <PagedList<Prospect>
        columns={may('developer') ? WITH_ACTIONS : COLUMNS}
        compact={(prospect) => (
          <span className="flex items-center justify-between gap-2">
            <span className="truncate">
              {prospect.primary_phone} {next(prospect)}
            </span>
            <Standing prospect={prospect} />
          </span>
        )}
        empty={
          <Empty icon="campaigns" title={text || status ? t('Nobody matches') : t('Nobody yet')}>
            {text || status ? t('Search for something else.') : t('Upload a file with people to call.')}
          </Empty>
        }
        everyMs={EVERY_MS}
        isBare
        label={t('People')}
        name="people"
        panel={(prospect) => <ProspectPanel prospect={prospect} />}
        path={`/api/v/campaign/${slug}/prospects/`}
        query={{ q: text, status, ...sortedQuery(sorting) }}
        rowKey={({ uuid }) => uuid}
        sorting={sorting}
      />
    </Card>
  )
}
