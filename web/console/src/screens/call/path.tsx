import { useQuery } from '@tanstack/react-query'
import { api } from '../../data/api.ts'
import { useRead } from '../../data/queries.ts'
import type { Agent, Call, CallEvent, Page } from '../../data/types.ts'
import { t } from '../../language/t.ts'
import { Card } from '../../ui/layout.tsx'
import { AgentDrawing } from '../agent/procedures/agent-drawing.tsx'
import { type AgentVisit, callPath, isWorthDrawing } from '../agent/procedures/call-path.ts'

const PAGE_SIZE = 200
/** Two thousand events: what follows is left out. */
const MAX_PAGES = 10
const LIVE_EVERY_MS = 5_000

/** The way of a call through its agents, drawn on each: procedures, values, hand-offs. */
export function CallPath({ call, isRunning }: { call: Call; isRunning: boolean }) {
  const path = `/calls/${call.call_log_id}/events`
  const { data: events = [] } = useQuery({
    queryKey: [path, { all: true }],
    queryFn: ({ signal }) => allEvents(path, signal),
    ...(isRunning ? { refetchInterval: LIVE_EVERY_MS } : {}),
  })
  const visits = callPath(events, { id: call.agent_id, name: call.agent_name })
  if (!isWorthDrawing(visits)) return null
  return (
    <Card title={t('Path')}>
      <ol className="space-y-3">
        {visits.map((visit, at) => (
          <li key={at}>
            <h3 className="mb-1 text-sm font-medium">{visit.agentName}</h3>
            <Visit visit={visit} />
          </li>
        ))}
      </ol>
    </Card>
  )
}

function Visit({ visit }: { visit: AgentVisit }) {
  const { data, isPending } = useRead<Agent>(`/agents/${visit.agentId}`)
  return isPending ? null : <AgentDrawing agent={data} visit={visit} />
}

async function allEvents(path: string, signal: AbortSignal): Promise<CallEvent[]> {
  const events: CallEvent[] = []
  for (let page = 1; page <= MAX_PAGES; page++) {
    const { items, total } = await api<Page<CallEvent>>(path, { query: { page, page_size: PAGE_SIZE }, signal })
    events.push(...items)
    if (items.length === 0 || events.length >= total) break
  }
  return events
}
