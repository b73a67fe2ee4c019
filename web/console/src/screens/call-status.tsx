import { formatWord } from '../data/format.ts'
import type { Call } from '../data/types.ts'
import { t } from '../language/t.ts'
import { Badge, type Tone } from '../ui/layout.tsx'

const TONES: Readonly<Record<Call['status'], Tone>> = {
  queued: 'neutral',
  ringing: 'accent',
  in_progress: 'accent',
  completed: 'good',
  failed: 'bad',
  busy: 'warn',
  no_answer: 'warn',
  canceled: 'neutral',
}

export const isRunning = ({ status }: Pick<Call, 'status'>): boolean =>
  status === 'queued' || status === 'ringing' || status === 'in_progress'

export function CallStatus({ call }: { call: Pick<Call, 'status'> }) {
  return (
    <Badge dot={call.status === 'in_progress'} tone={TONES[call.status]}>
      {call.status === 'in_progress' ? t('Live') : formatWord(call.status)}
    </Badge>
  )
}

/** The other party of the call: its number, or the browser. */
export const partyOf = (call: Call): string =>
  call.call_type === 'web'
    ? t('Web')
    : ((call.direction === 'inbound' ? call.from_number : call.to_number) ?? t('Unknown'))
