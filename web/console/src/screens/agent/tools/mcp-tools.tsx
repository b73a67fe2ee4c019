import { useRead } from '../../../data/queries.ts'
import { t } from '../../../language/t.ts'
import { Loading, Notice } from '../../../ui/layout.tsx'

interface Told {
  tools: { type: string; name: string; description: string }[]
  faults: string[]
}

/** The tools that the agent's MCP servers list now, as its model gets them. */
export function McpTools({ agentId }: { agentId: string }) {
  const { data, error } = useRead<Told>(`/agents/${agentId}/tools`)
  const tools = data?.tools.filter(({ type }) => type === 'mcp') ?? []
  return (
    <section className="border-t border-line px-4 py-3">
      <h3 className="text-sm font-medium">{t('What its MCP servers list')}</h3>
      {error && <Notice tone="bad">{error.message}</Notice>}
      {data === undefined && !error && <Loading lines={2} />}
      {data?.faults.map((fault) => (
        <div className="mt-2" key={fault}>
          <Notice tone="warn">{fault}</Notice>
        </div>
      ))}
      <ul className="mt-2 space-y-1 text-sm">
        {tools.map(({ name, description }) => (
          <li key={name}>
            <code className="text-xs font-medium">{name}</code> <span className="text-muted">{description}</span>
          </li>
        ))}
      </ul>
    </section>
  )
}
