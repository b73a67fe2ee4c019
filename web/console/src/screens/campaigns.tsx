import { Link, useNavigate, useSearch } from '@tanstack/react-router'
import { formatAgo, formatCount } from '../data/format.ts'
import { useRead } from '../data/queries.ts'
import { useSession } from '../data/session.tsx'
import type { Agent, Campaign } from '../data/types.ts'
import { t } from '../language/t.ts'
import { Button } from '../ui/button.tsx'
import { ListPage } from '../ui/list-page.tsx'
import { CampaignDialog } from './campaign/campaign-dialog.tsx'
import { CampaignStatus } from './campaign/status.tsx'

const EVERY_MS = 5_000

export function Screen() {
  const { may } = useSession()
  const search = useSearch({ strict: false })
  const navigate = useNavigate()
  const list = useRead<Campaign[]>('/api/v/campaign/', { everyMs: EVERY_MS })
  const { data: agents } = useRead<Agent[]>('/agents')
  const add = may('developer') && (
    <Button icon="plus" kind="primary" onClick={() => void navigate({ to: '/campaigns', search: { new: true } })}>
      {t('New campaign')}
    </Button>
  )
  return (
    <>
      <ListPage
        add={add}
        columns={[
          {
            name: t('Campaign'),
            cell: ({ slug, name }) => (
              <Link className="font-medium hover:underline" params={{ slug }} to="/campaigns/$slug">
                {name}
              </Link>
            ),
          },
          { name: t('Status'), cell: (campaign) => <CampaignStatus {...campaign} /> },
          {
            name: t('Agent'),
            wide: true,
            cell: ({ agent_id }) => agents?.find((agent) => agent.agent_id === agent_id)?.agent_name ?? '–',
          },
          { name: t('People'), align: 'end', wide: true, cell: ({ prospects }) => formatCount(prospects) },
          {
            name: t('Changed'),
            align: 'end',
            wide: true,
            cell: ({ updated_at }) => <span className="text-muted">{formatAgo(updated_at)}</span>,
          },
        ]}
        empty={{
          icon: 'campaigns',
          title: t('No campaigns yet'),
          children: t(
            'A campaign calls the people of its lists, tries again those who did not answer, and keeps to calling hours and the do-not-call list.',
          ),
        }}
        label={t('Campaigns')}
        lead={t('Calls to lists of people, within the hours the law and you allow.')}
        list={list}
        rowKey={({ campaign_id }) => campaign_id}
        title={t('Campaigns')}
      />
      {search.new === true && may('developer') && (
        <CampaignDialog
          onClose={() => void navigate({ to: '/campaigns', search: {} })}
          onSaved={({ slug }) =>
            void navigate({ to: '/campaigns/$slug', params: { slug }, search: { setup: 'people' } })
          }
        />
      )}
    </>
  )
}
