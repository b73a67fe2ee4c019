import { useState } from 'react'
import { formatCount, formatDayTime, formatInstant, formatUsd } from '../data/format.ts'
import { useRead } from '../data/queries.ts'
import type { Agent, Chat, ChatDetails } from '../data/types.ts'
import { t } from '../language/t.ts'
import { AgentOptions } from '../ui/agent-options.tsx'
import { CopiedId } from '../ui/copied-id.tsx'
import { Fault } from '../ui/fault.tsx'
import { Select } from '../ui/field.tsx'
import { Empty, Facts, Loading, PageHead } from '../ui/layout.tsx'
import type { ListColumn } from '../ui/list/columns.tsx'
import { SavedFilters } from '../ui/list/saved-filters.tsx'
import { SearchInput } from '../ui/list/search-input.tsx'
import { useListSearch } from '../ui/list/use-list-search.ts'
import { PagedList } from '../ui/list/work-list.tsx'

const EVERY_MS = 5_000

const COLUMNS: readonly ListColumn<Chat>[] = [
  { id: 'session', name: t('Session'), width: 'minmax(7rem,1fr)', cell: ({ session_id }) => session_id },
  {
    id: 'agent',
    name: t('Agent'),
    width: 'minmax(6rem,1fr)',
    cell: ({ agent_id }) => <AgentName agentId={agent_id} />,
  },
  {
    id: 'last',
    name: t('Last message'),
    width: 'minmax(8rem,3fr)',
    cell: ({ last_message }) => <span className="text-muted">{last_message}</span>,
  },
  {
    id: 'message_count',
    isSortable: true,
    name: t('Messages'),
    width: '5.5rem',
    align: 'end',
    cell: ({ message_count }) => formatCount(message_count),
  },
  {
    id: 'updated_at',
    isSortable: true,
    name: t('When'),
    width: '9rem',
    align: 'end',
    cell: ({ updated_at }) => <span className="text-muted">{formatDayTime(updated_at)}</span>,
  },
  {
    id: 'id',
    name: t('Id'),
    width: '9rem',
    isExtra: true,
    cell: ({ chat_id }) => (
      <span className="relative z-1">
        <CopiedId id={chat_id} />
      </span>
    ),
  },
]

function AgentName({ agentId }: { agentId: string }) {
  const { data: agents } = useRead<Agent[]>('/agents')
  return <>{agents?.find(({ agent_id }) => agent_id === agentId)?.agent_name ?? t('Unknown')}</>
}

/** Every written conversation, newest first. */
export function Screen() {
  const { filters, sorting, sorted, change, replace } = useListSearch(['agent_id'])
  const [sought, setSought] = useState('')
  const { data: agents } = useRead<Agent[]>('/agents')
  const [total, setTotal] = useState<number>()
  return (
    <>
      <PageHead
        lead={
          total === undefined || total === 0
            ? t('What was written with your agents, newest first.')
            : total === 1
              ? t('1 chat')
              : t('{n} chats, newest first', { n: formatCount(total) })
        }
        title={t('Chats')}
      />
      <div className="mb-4 flex flex-wrap gap-2">
        <SearchInput
          className="w-auto! min-w-44 flex-1 sm:max-w-72"
          label={t('Search chats')}
          onSearch={setSought}
          placeholder={t('Words of a message')}
          value={sought}
        />
        <Select
          aria-label={t('Agent')}
          className="w-auto! max-w-44"
          onChange={({ target }) => change({ agent_id: target.value })}
          value={filters.agent_id ?? ''}
        >
          <AgentOptions agents={agents} />
        </Select>
        <SavedFilters filters={filters} list="chats" onChoose={replace} />
      </div>
      <PagedList<Chat>
        columns={COLUMNS}
        compact={({ last_message }) => last_message}
        empty={
          sought !== '' || Object.keys(filters).length > 0 ? (
            <Empty icon="search" title={t('No chat matches')}>
              {t('Search for something else.')}
            </Empty>
          ) : (
            <Empty icon="send" title={t('No chats')}>
              {t('A chat begins with POST /chats/interaction: the same agent answers in writing.')}
            </Empty>
          )
        }
        everyMs={EVERY_MS}
        label={t('Chats')}
        name="chats"
        onTotal={setTotal}
        panel={(chat) => <ChatPanel chat={chat} />}
        path="/chats/logs"
        query={{ ...filters, q: sought, ...sorted }}
        rowKey={({ chat_id }) => chat_id}
        sorting={sorting}
      />
    </>
  )
}

/** A chat beside the list: every message of it. */
function ChatPanel({ chat: { chat_id, session_id } }: { chat: Chat }) {
  const { data, error } = useRead<ChatDetails>(`/chats/${chat_id}`, { everyMs: EVERY_MS })
  if (data === undefined) return error ? <Fault error={error} /> : <Loading />
  return (
    <>
      <p className="text-md font-semibold wrap-anywhere">{session_id}</p>
      <Facts
        rows={[
          [t('Agent'), <AgentName agentId={data.agent_id} key="agent" />],
          [t('Began'), formatInstant(data.created_at)],
          [t('Cost'), formatUsd(data.cost.total_cost)],
          [t('Id'), <CopiedId id={chat_id} key="id" />],
        ]}
      />
      <ol aria-label={t('Messages')} className="space-y-2 text-sm">
        {data.messages.map(({ role, content, created_at }) => (
          <li key={`${role} ${created_at}`}>
            <span className={`text-xs font-semibold ${role === 'user' ? 'text-caller' : 'text-accent-ink'}`}>
              {role === 'user' ? t('Visitor') : t('Agent')}
            </span>
            <p className="whitespace-pre-wrap wrap-anywhere">{content}</p>
          </li>
        ))}
      </ol>
    </>
  )
}
