import type { Campaign } from '../../data/types.ts'

export type ShownStatus = 'draft' | 'waiting' | 'running' | 'paused' | 'completed' | 'off'

/** What a campaign is to the people who run it: the API's four states say neither that it is empty nor why it stands. Pure. */
export function shownStatus({
  status,
  paused,
  pause_reason,
  prospects,
}: Pick<Campaign, 'status' | 'paused' | 'pause_reason' | 'prospects'>): ShownStatus {
  if (status === 'Inactive') return 'off'
  if (prospects === 0) return 'draft'
  if (status === 'Running') return 'running'
  if (status === 'Completed') return 'completed'
  return paused || pause_reason !== null ? 'paused' : 'waiting'
}
