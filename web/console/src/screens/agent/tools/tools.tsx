import { useState } from 'react'
import type { Tool } from '../../../data/types.ts'
import { t } from '../../../language/t.ts'
import { Button } from '../../../ui/button.tsx'
import { Icon } from '../../../ui/icon.tsx'
import { Badge, Card, Empty } from '../../../ui/layout.tsx'
import type { Draft } from '../agent.tsx'
import { McpTools } from './mcp-tools.tsx'
import { ToolDialog } from './tool-dialog.tsx'

export const TOOL_TYPES: Readonly<Record<Tool['type'], string>> = {
  http: t('Web request'),
  client: t('Done by the page'),
  transfer: t('Transfer'),
  handoff: t('Hand-off to an agent'),
  hang_up: t('Hang up'),
  send_dtmf: t('Press keys'),
  knowledge: t('Look up knowledge'),
  mcp: t('Tools of an MCP server'),
}

/** What the agent can do besides talking. */
export function Tools({ draft }: { draft: Draft }) {
  const { agent, change, isReadOnly } = draft
  const [edited, setEdited] = useState<{ at: number; tool?: Tool }>()
  const put = (tool: Tool) => {
    const at = edited?.at ?? agent.tools.length
    change({ tools: agent.tools.toSpliced(at, at < agent.tools.length ? 1 : 0, tool) })
    setEdited(undefined)
  }
  const add = !isReadOnly && (
    <Button icon="plus" onClick={() => setEdited({ at: agent.tools.length })} size="sm">
      {t('Add tool')}
    </Button>
  )
  return (
    <Card actions={agent.tools.length > 0 && add} flush title={agent.tools.length > 0 ? t('Tools') : undefined}>
      {agent.tools.length === 0 ? (
        <Empty action={add} icon="tool" title={t('No tools')}>
          {t(
            'A tool lets the agent do something in a call: ask a web service, transfer to a person, look something up, hang up.',
          )}
        </Empty>
      ) : (
        <ul>
          {agent.tools.map((tool, at) => (
            <li className="flex items-center gap-3 border-t border-line px-4 py-3" key={tool.name ?? at}>
              <Icon className="text-muted" name="tool" />
              <div className="min-w-0 flex-1">
                <div className="flex flex-wrap items-center gap-2">
                  <span className="font-mono text-sm font-medium">{tool.name}</span>
                  <Badge>{TOOL_TYPES[tool.type]}</Badge>
                </div>
                <p className="truncate text-sm text-muted">
                  {tool.type === 'transfer'
                    ? t('To {to}. {description}', { to: tool.to, description: tool.description })
                    : tool.type === 'mcp'
                      ? `${tool.plugin ?? tool.url}${tool.allow ? `: ${tool.allow.join(', ')}` : ''}`
                      : (tool.description ?? tool.when)}
                </p>
              </div>
              {!isReadOnly && (
                <>
                  <Button onClick={() => setEdited({ at, tool })} size="sm">
                    {t('Edit')}
                  </Button>
                  <Button
                    aria-label={t('Remove {name}', { name: tool.name })}
                    icon="trash"
                    kind="quiet"
                    onClick={() => change({ tools: agent.tools.toSpliced(at, 1) })}
                    size="sm"
                  />
                </>
              )}
            </li>
          ))}
        </ul>
      )}
      {draft.saved.tools.some(({ type }) => type === 'mcp') && <McpTools agentId={agent.agent_id} />}
      {edited && (
        <ToolDialog
          agentId={agent.agent_id}
          names={agent.tools.filter((_, at) => at !== edited.at).map(({ name = '' }) => name)}
          onClose={() => setEdited(undefined)}
          onSave={put}
          tool={edited.tool}
        />
      )}
    </Card>
  )
}
