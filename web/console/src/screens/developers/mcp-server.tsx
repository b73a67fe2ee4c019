import { Link } from '@tanstack/react-router'
import { useSession } from '../../data/session.tsx'
import { t } from '../../language/t.ts'
import { Button, buttonClass } from '../../ui/button.tsx'
import { Card, Facts } from '../../ui/layout.tsx'
import { toast } from '../../ui/toast.tsx'
import { SCOPES } from '../api-keys.tsx'

/** How a program that speaks the Model Context Protocol reaches this instance. */
export function McpServer() {
  const { may } = useSession()
  const url = `${location.origin}/mcp`
  const settings = JSON.stringify(
    { mcpServers: { patchbay: { type: 'http', url, headers: { Authorization: 'Bearer pb_…' } } } },
    null,
    2,
  )
  return (
    <div className="grid items-start gap-4 xl:grid-cols-2">
      <Card
        actions={
          may('admin') && (
            <Link className={buttonClass('plain', 'sm')} search={{ tab: 'keys' }} to="/developers">
              {t('Create a key')}
            </Link>
          )
        }
        title={t('Patchbay as tools of other programs')}
      >
        <p className="mb-4 text-pretty text-muted">
          {t(
            'Programs that speak the Model Context Protocol (Claude, Cursor, your own agents) read agents and calls here, and call, with a key of this workspace.',
          )}{' '}
          {!may('admin') && t('An Admin creates the key.')}
        </p>
        <Facts rows={[[t('Address'), <code key="url">{url}</code>]]} />
        <h3 className="mt-4 mb-2 text-sm font-semibold">{t('What a key may do')}</h3>
        <Facts rows={SCOPES.map(([scope, text]) => [scope, text] as const)} />
      </Card>
      <Card
        actions={
          <Button
            icon="copy"
            onClick={() => void navigator.clipboard.writeText(settings).then(() => toast(t('Copied')))}
            size="sm"
          >
            {t('Copy')}
          </Button>
        }
        title={t('For the program')}
      >
        <pre
          className="overflow-x-auto rounded-md bg-sunken p-3 font-mono text-sm"
          // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard
          tabIndex={0}
        >
          {settings}
        </pre>
      </Card>
    </div>
  )
}
