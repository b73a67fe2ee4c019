import { type Static, Type } from 'typebox'
import type { Call } from '../../store/database/schema.ts'
import { Nullable } from '../schema.ts'

export const RecordingState = Nullable(
  Type.Enum(['off', 'refused', 'unanswered', 'pending', 'stored', 'deleted'], {
    description:
      'How it stands with the recording: `off`: neither the agent nor the installation records; `refused`, `unanswered`: no consent; `pending`: the call runs, or its recording is on the way to the store; `stored`: `recording_url` has it; `deleted`: it was, by retention. Null: the call was not answered, or is older than this field.',
  }),
)

export function recordingStateOf({
  recording,
  recording_key: key,
  consent,
}: Pick<Call, 'recording' | 'recording_key' | 'consent'>): Static<typeof RecordingState> {
  if (key !== null) return 'stored'
  if (recording === 'begun') return 'pending'
  if (recording === 'off' && (consent === 'refused' || consent === 'unanswered')) return consent
  return recording
}
