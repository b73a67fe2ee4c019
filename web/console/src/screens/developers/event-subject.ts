/** What an event is about, as its `data` says. */
export interface EventSubject {
  /** As people call it. */
  readonly label: string
  /** Its page; undefined: it has none. */
  readonly path?: string
}

type Data = Readonly<Record<string, unknown>>

const text = (value: unknown): string => (typeof value === 'string' ? value : '')

/** @param body the JSON that is sent; null: it was erased. Undefined: the event is about the workspace as a whole. */
export function eventSubject(body: string | null | undefined): EventSubject | undefined {
  const data = dataOf(body)
  const call = text(data.call_log_id)
  if (call !== '') {
    const other = text(data.direction === 'inbound' ? data.from_number : data.to_number)
    const label = [text(data.agent_name), other].filter(Boolean).join(' · ')
    return { label: label || call, path: `/calls/${call}` }
  }
  const batch = text(data.batch_id)
  if (batch !== '') return { label: text(data.name) || batch, path: `/batches/${batch}` }
  const campaign = text(data.slug) || text(data.campaign_slug)
  if (campaign !== '') return { label: text(data.name) || campaign, path: `/campaigns/${campaign}` }
  const trunk = text(data.trunk_id)
  if (trunk !== '') return { label: text(data.name) || trunk, path: `/numbers/trunks/${trunk}` }
  const agent = text(data.agent_id)
  if (agent !== '') return { label: text(data.agent_name) || agent, path: `/agents/${agent}` }
  const number = text(data.phone_number)
  return number === '' ? undefined : { label: number }
}

function dataOf(body: string | null | undefined): Data {
  try {
    const { data } = JSON.parse(body ?? '{}') as { data?: unknown }
    return typeof data === 'object' && data !== null ? (data as Data) : {}
  } catch {
    return {}
  }
}
