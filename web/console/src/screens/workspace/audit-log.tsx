import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { formatExactly, formatInstant } from '../../data/format.ts'
import { useRead } from '../../data/queries.ts'
import { useSession } from '../../data/session.tsx'
import { lastDays, SPANS } from '../../data/spans.ts'
import type { Agent, AuditEntry, Member } from '../../data/types.ts'
import { t } from '../../language/t.ts'
import { buttonClass } from '../../ui/button.tsx'
import { CopiedId } from '../../ui/copied-id.tsx'
import { FilterSelect } from '../../ui/filter-select.tsx'
import { Icon } from '../../ui/icon.tsx'
import { Card, Empty } from '../../ui/layout.tsx'
import { VirtualList } from '../../ui/virtual-list.tsx'
import { auditSentence } from './audit-sentence.ts'
import { auditedOf } from './audited.ts'

/** What things are listed under in the API. */
const KINDS = [
  ['/agents', t('Agents')],
  ['/calls', t('Calls')],
  ['/api/v/campaign', t('Campaigns')],
  ['/batch', t('Batches')],
  ['/tests', t('Tests')],
  ['/phone-numbers', t('Phone numbers')],
  ['/trunks', t('SIP trunks')],
  ['/do-not-call', t('Do not call')],
  ['/workspaces', t('Members')],
  ['/providers', t('Provider keys')],
  ['/api-keys', t('API keys')],
  ['/webhooks', t('Webhooks')],
] as const
const OPERATOR_KINDS = [...KINDS, ['/operator', t('Operator')]] as const

/** Who did what to which thing, newest first. */
export function AuditLog({ path }: { path: '/audit-log' | '/operator/audit-log' }) {
  const { workspace } = useSession()
  const isWorkspaces = path === '/audit-log'
  const [actor, setActor] = useState('')
  const [kind, setKind] = useState('')
  const [days, setDays] = useState('')
  const { data: members } = useRead<Member[]>(`/workspaces/${workspace?.workspace_id}/members`, {
    enabled: isWorkspaces,
  })
  const { data: agents } = useRead<Agent[]>('/agents')
  const nameOf = (id: string) => agents?.find(({ agent_id }) => agent_id === id)?.agent_name
  const query = {
    ...(actor ? { actor_id: actor } : {}),
    ...(kind ? { resource: kind } : {}),
    ...(days ? { start_date: new Date(lastDays(days).startMs).toISOString() } : {}),
  }
  return (
    <Card
      actions={
        <>
          {isWorkspaces && (
            <FilterSelect
              all={t('Anybody')}
              label={t('Who')}
              onChange={setActor}
              options={(members ?? []).map(({ user_id, name }) => [user_id, name] as const)}
              value={actor}
            />
          )}
          <FilterSelect
            all={t('Everything')}
            label={t('Kind')}
            onChange={setKind}
            options={isWorkspaces ? KINDS : OPERATOR_KINDS}
            value={kind}
          />
          <FilterSelect all={t('Any time')} label={t('Time')} onChange={setDays} options={SPANS} value={days} />
          <a
            className={buttonClass('plain', 'sm')}
            download="audit-log.csv"
            href={`${path}/export-csv?${new URLSearchParams(query)}`}
          >
            <Icon name="download" size={16} /> CSV
          </a>
        </>
      }
      flush
      title={t('Audit log')}
    >
      <VirtualList<AuditEntry>
        empty={
          <Empty icon="operator" title={t('Nothing yet')}>
            {t('Every change appears here, with its author and address.')}
          </Empty>
        }
        key={JSON.stringify(query)}
        label={t('Audit log')}
        path={path}
        query={query}
        row={(entry) => <Row entry={entry} nameOf={nameOf} />}
        rowKey={({ id }) => id}
      />
    </Card>
  )
}

interface RowProps {
  entry: AuditEntry
  nameOf: (id: string) => string | undefined
}

function Row({ entry, nameOf }: RowProps) {
  const { at, actor, action, resource, address } = entry
  return (
    <div
      className="grid h-full grid-cols-[minmax(0,1fr)_auto] content-center items-center gap-x-3 px-4 text-sm md:grid-cols-[minmax(0,1fr)_minmax(0,2.5fr)_9rem_11rem]"
      title={`${action} · ${resource}`}
    >
      <span className="truncate text-xs text-muted md:text-sm md:font-medium md:text-ink" title={actor.kind}>
        {actor.name}
      </span>
      <span
        className="text-right text-xs whitespace-nowrap text-muted md:order-last md:text-sm"
        title={formatExactly(at)}
      >
        {formatInstant(at)}
      </span>
      <span className="col-span-2 flex min-w-0 items-center gap-2 md:col-span-1">
        <span className="truncate">{auditSentence(action)}</span>
        <About entry={entry} nameOf={nameOf} />
      </span>
      <span className="hidden truncate font-mono text-xs text-muted md:block" title={t('From this address')}>
        {address}
      </span>
    </div>
  )
}

/** The end of a long id, where ids made one after the other differ; the whole of a short one. */
const shortOf = (id: string): string => (id.length > 20 ? `…${id.slice(-8)}` : id)

/** The thing itself: a link where it has a page, its name, or its id to copy. */
function About({ entry, nameOf }: RowProps) {
  const about = auditedOf(entry, nameOf)
  if (about === undefined) return null
  const { name, id, path } = about
  if (path !== undefined) {
    return (
      <Link className="min-w-0 truncate text-accent hover:underline" title={id} to={path}>
        {name ?? shortOf(id)}
      </Link>
    )
  }
  return name === undefined ? (
    <CopiedId id={id} />
  ) : (
    <span className="min-w-0 truncate text-muted" title={id}>
      {name}
    </span>
  )
}
