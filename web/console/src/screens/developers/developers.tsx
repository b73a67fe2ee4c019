import { useSession } from '../../data/session.tsx'
import { t } from '../../language/t.ts'
import { Empty } from '../../ui/layout.tsx'
import { TabbedPage } from '../../ui/tabbed-page.tsx'
import { ApiKeys } from '../api-keys.tsx'
import { LiveEvents } from './live-events.tsx'
import { McpServer } from './mcp-server.tsx'
import { Requests } from './requests.tsx'
import { Webhooks } from './webhooks.tsx'

/** What other programs are told, and what they may do. */
export function Screen() {
  const { may } = useSession()
  if (!may('developer')) {
    return (
      <Empty icon="developers" title={t('For Developers of this workspace')}>
        {t('Webhooks and keys are theirs and the Admins’. An Admin can give you the role, under Workspace.')}
      </Empty>
    )
  }
  const tabs = [
    ['webhooks', t('Webhooks'), <Webhooks key="webhooks" />] as const,
    ...(may('admin') ? [['keys', t('API keys'), <ApiKeys key="keys" />] as const] : []),
    ['requests', t('Requests'), <Requests key="requests" />] as const,
    ['events', t('Events'), <LiveEvents key="events" />] as const,
    ['mcp', 'MCP', <McpServer key="mcp" />] as const,
  ]
  return (
    <TabbedPage
      actions={
        <a
          className="text-sm font-medium text-accent-ink underline underline-offset-2"
          href="/docs/reference"
          rel="noopener"
          target="_blank"
        >
          {t('API documentation')}
        </a>
      }
      lead={t('What other programs receive, and what they may do.')}
      path="/developers"
      tabs={tabs}
      title={t('Developers')}
    />
  )
}
