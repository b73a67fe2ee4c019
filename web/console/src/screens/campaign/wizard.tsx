import { useNavigate, useSearch } from '@tanstack/react-router'
import { formatCount, formatInstant, formatList, formatWord } from '../../data/format.ts'
import { useRead, useWrite } from '../../data/queries.ts'
import type { Agent, Campaign, CampaignState, ProspectList } from '../../data/types.ts'
import { t } from '../../language/t.ts'
import { Button } from '../../ui/button.tsx'
import { Dialog, DialogActions } from '../../ui/dialog.tsx'
import { Fault } from '../../ui/fault.tsx'
import { Icon } from '../../ui/icon.tsx'
import { Facts } from '../../ui/layout.tsx'
import { REASONS } from './status.tsx'
import { TestCallForm } from './test-call.tsx'
import { UploadForm } from './upload-people.tsx'

const STEPS = [
  ['settings', t('Settings')],
  ['people', t('People')],
  ['test', t('Test call')],
  ['start', t('Start')],
] as const
type Step = (typeof STEPS)[number][0]

/** Where somebody is in making a campaign. */
export function Steps({ at }: { at: Step }) {
  const now = STEPS.findIndex(([step]) => step === at)
  return (
    <ol aria-label={t('Steps')} className="mb-5 flex flex-wrap gap-x-5 gap-y-1 text-sm">
      {STEPS.map(([step, label], n) => (
        <li
          aria-current={n === now ? 'step' : undefined}
          className={`flex items-center gap-1.5 ${n === now ? 'font-medium' : 'text-muted'}`}
          key={step}
        >
          <span
            aria-hidden="true"
            className={`grid size-5 place-items-center rounded-full text-xs ${
              n < now ? 'bg-good-soft text-good' : n === now ? 'bg-accent text-on-accent' : 'bg-sunken'
            }`}
          >
            {n < now ? <Icon name="check" size={12} /> : n + 1}
          </span>
          {label}
        </li>
      ))}
    </ol>
  )
}

/** The steps of a campaign that was just made, by `setup` in the address: a user who leaves finds all of it on the campaign's page. */
export function Wizard({ campaign }: { campaign: Campaign }) {
  const { setup } = useSearch({ strict: false })
  const navigate = useNavigate()
  const go = (step: Step | undefined) =>
    void navigate({ to: '/campaigns/$slug', params: { slug: campaign.slug }, search: step ? { setup: step } : {} })
  const step = STEPS.find(([one]) => one === setup)?.[0]
  if (step === undefined || step === 'settings') return null
  const leave = () => go(undefined)
  return (
    <Dialog onClose={leave} open title={campaign.name} wide>
      <Steps at={step} />
      {step === 'people' && (
        <UploadForm campaign={campaign} leave={t('Later')} onClose={leave} onDone={() => go('test')} />
      )}
      {step === 'test' && (
        <>
          <p className="mb-4 text-muted">{t('The agent calls you as it would call the people of this campaign.')}</p>
          <TestCallForm campaign={campaign}>
            {(call) => (
              <>
                {call}
                <Button kind="primary" onClick={() => go('start')}>
                  {t('Next')}
                </Button>
              </>
            )}
          </TestCallForm>
        </>
      )}
      {step === 'start' && <Start campaign={campaign} onClose={leave} />}
    </Dialog>
  )
}

/** When a start would lead to the first call, or what is in its way. */
function firstCall(state: CampaignState | undefined, isLoading: boolean): string {
  if (state === undefined || isLoading) return '…'
  const { reason_after_start: reason, next_call_at, prospects } = state
  if (reason !== null && !WAITS.has(reason)) return REASONS[reason] ?? formatWord(reason)
  if (prospects.callable_now > 0) return t('Within seconds of the start')
  return next_call_at === null ? t('Not foreseeable') : formatInstant(next_call_at)
}

/** What passes by itself. */
const WAITS: ReadonlySet<string> = new Set(['outside_calling_hours', 'waiting_for_retry', 'numbers_blocked'])

/** All that a start sets going, in one look. */
function Start({ campaign, onClose }: { campaign: Campaign; onClose: () => void }) {
  const path = `/api/v/campaign/${campaign.slug}/`
  const { data: agents } = useRead<Agent[]>('/agents')
  const { data: state } = useRead<CampaignState>(`${path}status/`, { everyMs: 2_000 })
  const { data: lists } = useRead<ProspectList[]>('/api/v/list/', {
    query: { campaign: campaign.slug },
    everyMs: 2_000,
  })
  const start = useWrite<unknown>(() => [`${path}resume/`, { method: 'POST' }], {
    changes: ['/api/v/campaign'],
    quiet: true,
    onDone: onClose,
  })
  const uploads = lists?.flatMap((list) => list.uploads) ?? []
  const loading = uploads.filter(({ status }) => status === 'loading').length
  const attested = uploads.flatMap(({ consent_attested }) => consent_attested?.by ?? [])
  const consent = campaign.consent_required
    ? t('Only those who agreed are called')
    : attested.length > 0
      ? t('Stated by {names}', { names: formatList([...new Set(attested)]) })
      : t('Nobody said that the people of the file agreed')
  return (
    <>
      <Facts
        rows={[
          [t('People'), loading > 0 ? t('The file is being loaded …') : formatCount(state?.prospects.total)],
          [t('Callable now'), formatCount(state?.prospects.callable_now)],
          [t('First call'), firstCall(state, loading > 0)],
          [t('Agent'), agents?.find(({ agent_id }) => agent_id === campaign.agent_id)?.agent_name ?? '–'],
          [
            t('Hours'),
            t('{from} – {to}, where the person is', {
              from: campaign.earliest_prospect_time.slice(0, 5),
              to: campaign.latest_prospect_time.slice(0, 5),
            }),
          ],
          [t('Consent'), consent],
        ]}
      />
      <Fault error={start.error} />
      <DialogActions>
        <Button onClick={onClose}>{t('Later')}</Button>
        <Button busy={start.isPending} icon="play" kind="primary" onClick={() => start.mutate()}>
          {t('Start calling')}
        </Button>
      </DialogActions>
    </>
  )
}
