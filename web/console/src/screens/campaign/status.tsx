import { formatWord } from '../../data/format.ts'
import type { Campaign } from '../../data/types.ts'
import { t } from '../../language/t.ts'
import { Badge, type Tone } from '../../ui/layout.tsx'

const TONES: Readonly<Record<Campaign['status'], Tone>> = {
  Running: 'accent',
  Stopped: 'warn',
  Completed: 'good',
  Inactive: 'neutral',
}

export function CampaignStatus({ status }: Pick<Campaign, 'status'>) {
  return (
    <Badge dot={status === 'Running'} tone={TONES[status]}>
      {formatWord(status)}
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
  all_held: t('Everybody who is left is held. See below who and why.'),
}
