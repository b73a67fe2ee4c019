import { Link, useNavigate, useParams } from '@tanstack/react-router'
import { useState } from 'react'
import { formatCount, formatInstant, formatShare, formatUsd, formatWord } from '../../data/format.ts'
import { useRead, useWrite } from '../../data/queries.ts'
import { useSession } from '../../data/session.tsx'
import type { Campaign, CampaignState } from '../../data/types.ts'
import { said, t } from '../../language/t.ts'
import { Button, buttonClass } from '../../ui/button.tsx'
import { Confirm } from '../../ui/confirm.tsx'
import { Fault } from '../../ui/fault.tsx'
import { Card, Facts, Loading, Notice, PageHead, Stat } from '../../ui/layout.tsx'
import { Menu } from '../../ui/menu.tsx'
import { CampaignDialog } from './campaign-dialog.tsx'
import { Lists } from './lists.tsx'
import { OutcomesOverTime } from './outcomes.tsx'
import { Prospects } from './prospects.tsx'
import { CampaignStatus, GOES_ON, REASONS } from './status.tsx'
import { TestCall } from './test-call.tsx'
import { Wizard } from './wizard.tsx'
import { Zones } from './zones.tsx'

const EVERY_MS = 3_000

/** A campaign as it runs: why it stands still, who can be called now, what came of the calls. */
export function Screen() {
  const { slug } = useParams({ strict: false })
  const path = `/api/v/campaign/${slug}/`
  const { data: campaign, error } = useRead<Campaign>(path, { everyMs: EVERY_MS })
  const { data: state } = useRead<CampaignState>(`${path}status/`, { everyMs: EVERY_MS })
  if (error) return <Fault error={error} />
  if (campaign === undefined) return <Loading lines={8} />
  return (
    <>
      <Head campaign={campaign} path={path} state={state} />
      <Wizard campaign={campaign} />
      <div className="space-y-4">
        {state?.reason && (
          <Notice tone="warn">
            {REASONS[state.reason] ?? formatWord(state.reason)}{' '}
            {GOES_ON.has(state.reason) &&
              state.next_call_at &&
              t('The next call is at {next_call_at}.', { next_call_at: formatInstant(state.next_call_at) })}
          </Notice>
        )}
        {state && <Figures state={state} />}
        <div className="grid items-start gap-4 xl:grid-cols-[minmax(0,2fr)_minmax(0,1fr)]">
          <div className="min-w-0 space-y-4">
            <OutcomesOverTime campaign={campaign} />
            <Prospects slug={campaign.slug} />
          </div>
          <div className="min-w-0 space-y-4">
            <Lists campaign={campaign} />
            {state && <Zones zones={state.prospects.by_zone} />}
            {state && <Held state={state} />}
          </div>
        </div>
      </div>
    </>
  )
}

function Head({ campaign, path, state }: { campaign: Campaign; path: string; state: CampaignState | undefined }) {
  const { may } = useSession()
  const navigate = useNavigate()
  const [asked, setAsked] = useState<'delete' | 'test' | 'settings'>()
  const changes = ['/api/v/campaign']
  const act = useWrite<unknown, 'pause' | 'resume'>((action) => [`${path}${action}/`, { method: 'POST' }], { changes })
  const remove = useWrite(() => [path, { method: 'DELETE' }], {
    done: t('Deleted'),
    changes,
    onDone: () => void navigate({ to: '/campaigns' }),
  })
  const isStopped = campaign.paused || campaign.pause_reason !== null
  return (
    <>
      <PageHead
        actions={
          <>
            <Link className={buttonClass()} search={{ campaign: campaign.slug }} to="/calls">
              {t('Show calls')}
            </Link>
            {may('developer') && (
              <>
                <Button onClick={() => setAsked('settings')}>{t('Settings')}</Button>
                <Button onClick={() => setAsked('test')}>{t('Test call')}</Button>
                {isStopped ? (
                  <Button busy={act.isPending} icon="play" kind="primary" onClick={() => act.mutate('resume')}>
                    {t('Start')}
                  </Button>
                ) : (
                  <Button busy={act.isPending} icon="pause" onClick={() => act.mutate('pause')}>
                    {t('Pause')}
                  </Button>
                )}
              </>
            )}
            {may('admin') && (
              <Menu
                items={[{ label: t('Delete'), icon: 'trash', danger: true, onSelect: () => setAsked('delete') }]}
                trigger={<Button aria-label={t('More')} icon="more" />}
              />
            )}
          </>
        }
        id={campaign.slug}
        lead={leadOf(campaign)}
        title={
          <span className="flex items-center gap-3">
            {campaign.name}{' '}
            <CampaignStatus
              {...campaign}
              prospects={state?.prospects.total ?? campaign.prospects}
              status={state?.status ?? campaign.status}
            />
          </span>
        }
      />
      {asked === 'settings' && (
        <CampaignDialog campaign={campaign} onClose={() => setAsked(undefined)} onSaved={() => setAsked(undefined)} />
      )}
      {asked === 'test' && <TestCall campaign={campaign} onClose={() => setAsked(undefined)} />}
      <Confirm
        action={t('Delete campaign')}
        onClose={() => setAsked(undefined)}
        onConfirm={() => remove.mutateAsync()}
        open={asked === 'delete'}
        title={t('Delete {name}?', { name: campaign.name })}
      >
        {t('Its lists and people are gone. The calls it made stay.')}
      </Confirm>
    </>
  )
}

function leadOf({
  earliest_prospect_time,
  latest_prospect_time,
  max_number_calls,
  max_active_calls,
}: Campaign): string {
  const hours = {
    from: earliest_prospect_time.slice(0, 5),
    to: latest_prospect_time.slice(0, 5),
    tries: max_number_calls,
  }
  return max_active_calls > 0
    ? t('Calls from {from} to {to}, {tries} tries a person, {most} calls at once at most', {
        ...hours,
        most: max_active_calls,
      })
    : t('Calls from {from} to {to}, {tries} tries a person', hours)
}

function Figures({
  state: { calls, prospects, today, answer_rate, abandoned_rate_30d, cost },
}: {
  state: CampaignState
}) {
  return (
    <Card>
      <div className="mb-4 h-2 overflow-hidden rounded-full bg-sunken">
        <div
          className="h-full bg-accent transition-[width]"
          style={{ width: `${prospects.total === 0 ? 0 : (prospects.resolved / prospects.total) * 100}%` }}
        />
      </div>
      <div className="grid grid-cols-2 gap-5 sm:grid-cols-3 lg:grid-cols-5 2xl:grid-cols-9">
        <Stat label={t('People')} value={formatCount(prospects.total)} />
        <Stat label={t('Done')} value={formatCount(prospects.resolved)} />
        <Stat label={t('Callable now')} value={formatCount(prospects.callable_now)} />
        <Stat label={t('Ringing')} value={formatCount(calls.placing + calls.ringing)} />
        <Stat label={t('Talking')} value={formatCount(calls.talking)} />
        <Stat label={t('Calls today')} value={formatCount(today.attempts)} />
        <Stat label={t('Answered')} value={formatShare(answer_rate)} />
        <Stat
          label={t('Abandoned')}
          tone={(abandoned_rate_30d ?? 0) > 0.03 ? 'bad' : 'neutral'}
          value={formatShare(abandoned_rate_30d)}
        />
        <Stat label={t('Cost')} value={formatUsd(cost)} />
      </div>
    </Card>
  )
}

function Held({ state: { prospects, pacing } }: { state: CampaignState }) {
  const held = Object.entries(prospects.held).filter(([, count]) => Number(count) > 0)
  const outcomes = Object.entries(prospects.by_resolution).filter(([, count]) => Number(count) > 0)
  const rowsOf = (entries: [string, unknown][]) =>
    entries.map(([name, count]) => [formatWord(name), formatCount(Number(count))] as const)
  return (
    <>
      {outcomes.length > 0 && (
        <Card title={t('Outcomes')}>
          <Facts rows={rowsOf(outcomes)} />
        </Card>
      )}
      {held.length > 0 && (
        <Card title={t('Held, and why')}>
          <Facts rows={rowsOf(held)} />
        </Card>
      )}
      <Card title={t('Pace')}>
        <Facts
          rows={[
            [
              t('Calls for each free seat'),
              t('{effective_ratio}, of {call_ratio} wanted', {
                effective_ratio: pacing.effective_ratio,
                call_ratio: pacing.call_ratio,
              }),
            ],
            [t('Why'), said(pacing.why)],
          ]}
        />
      </Card>
    </>
  )
}
