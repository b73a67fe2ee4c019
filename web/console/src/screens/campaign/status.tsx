import { t } from '../../language/t.ts'
import { Badge, type Tone } from '../../ui/layout.tsx'
import { type ShownStatus, shownStatus } from './shown-status.ts'

const SHOWN = {
  draft: { label: t('Draft'), tone: 'neutral' },
  waiting: { label: t('Waiting'), tone: 'warn' },
  running: { label: t('Running'), tone: 'accent' },
  paused: { label: t('Paused'), tone: 'warn' },
  completed: { label: t('Completed'), tone: 'good' },
  off: { label: t('Switched off'), tone: 'neutral' },
} as const satisfies Record<ShownStatus, { label: string; tone: Tone }>

export function CampaignStatus(campaign: Parameters<typeof shownStatus>[0]) {
  const { label, tone } = SHOWN[shownStatus(campaign)]
  return (
    <Badge dot={campaign.status === 'Running'} tone={tone}>
      {label}
    </Badge>
  )
}

/** Why a campaign stands still, and the cure. */
export const REASONS: Readonly<Record<string, string>> = {
  paused: t('It is paused. Start it when its people are uploaded and a test call went well.'),
  outside_calling_hours: t('It is outside the calling hours of everybody who is left. It goes on by itself.'),
  waiting_for_retry: t('Everybody who is left is waiting for their next try. It goes on by itself.'),
  no_agent: t('It has no agent. Choose one in its settings.'),
  no_number: t('It has no number to call from. Register one for its agent under Numbers.'),
  no_capacity: t('Every seat of the voice workers is taken. It goes on as calls end; more workers make it faster.'),
  budget_reached: t('Its budget is used up. Raise it to go on.'),
  too_many_failures: t('Too many of its calls failed. Look at their causes in Calls, then start it again.'),
  numbers_blocked: t(
    'Networks block calls from its numbers, so they rest for an hour. See the blocked calls in Calls for the words of the networks and where to object.',
  ),
  no_prospects: t('Nobody is on its lists yet. Upload people to call.'),
  all_held: t('Everybody who is left is held. See below who and why.'),
}

/** Reasons that pass by themselves, at a time that is known. */
export const GOES_ON: ReadonlySet<string> = new Set(['outside_calling_hours', 'waiting_for_retry', 'numbers_blocked'])
