import { useNavigate, useSearch } from '@tanstack/react-router'
import { formatCount } from '../../data/format.ts'
import { useRead, useWrite } from '../../data/queries.ts'
import type { Agent, Campaign, CampaignState, ProspectList } from '../../data/types.ts'
import { Button } from '../../ui/button.tsx'
import { Dialog, DialogActions } from '../../ui/dialog.tsx'
import { Fault } from '../../ui/fault.tsx'
import { Icon } from '../../ui/icon.tsx'
import { Facts } from '../../ui/layout.tsx'
import { TestCallForm } from './test-call.tsx'
import { UploadForm } from './upload-people.tsx'

const STEPS = [
  ['settings', 'Settings'],
  ['people', 'People'],
  ['test', 'Test call'],
  ['start', 'Start'],
] as const
export type Step = (typeof STEPS)[number][0]

/** Where somebody is in making a campaign. */
export function Steps({ at }: { at: Step }) {
  const now = STEPS.findIndex(([step]) => step === at)
  return (
    <ol aria-label="Steps" className="mb-5 flex flex-wrap gap-x-5 gap-y-1 text-sm">
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

/** The steps of a campaign that was just made, by `setup` in the address: whoever leaves finds all of it on its page. */
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
      {step === 'people' && <UploadForm campaign={campaign} leave="Later" onClose={leave} onDone={() => go('test')} />}
      {step === 'test' && (
        <>
          <p className="mb-4 text-muted">The agent calls you as it would call the people of this campaign.</p>
          <TestCallForm campaign={campaign}>
            {(call) => (
              <>
                {call}
                <Button kind="primary" onClick={() => go('start')}>
                  Next
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
    ? 'Only those who agreed are called'
    : attested.length > 0
      ? `Stated by ${[...new Set(attested)].join(', ')}`
      : 'Nobody said that the people of the file agreed'
  return (
    <>
      <Facts
        rows={[
          ['People', loading > 0 ? 'The file is being loaded …' : formatCount(state?.prospects.total)],
          ['Callable now', formatCount(state?.prospects.callable_now)],
          ['Agent', agents?.find(({ agent_id }) => agent_id === campaign.agent_id)?.agent_name ?? '–'],
          [
            'Hours',
            `${campaign.earliest_prospect_time.slice(0, 5)} – ${campaign.latest_prospect_time.slice(0, 5)}, where the person is`,
          ],
          ['Consent', consent],
        ]}
      />
      <Fault error={start.error} />
      <DialogActions>
        <Button onClick={onClose}>Later</Button>
        <Button busy={start.isPending} icon="play" kind="primary" onClick={() => start.mutate()}>
          Start calling
        </Button>
      </DialogActions>
    </>
  )
}
