import type { EventOf } from '../../call/log/events.ts'
import type { SpokenTurn } from './signal.ts'

/** A turn of the caller as the call's log has it. `inputs`: the typed turns and keys it was made of. */
export function turnEvent(
  { text, startMs, endMs, language }: SpokenTurn,
  callMs: (monotonicMs: number) => number,
  inputs: readonly number[] = [],
): EventOf<'turn'> {
  return {
    type: 'turn',
    text,
    start_ms: callMs(startMs),
    end_ms: callMs(endMs),
    ...(language === undefined ? {} : { language }),
    ...(inputs.length === 0 ? {} : { inputs: [...inputs] }),
  }
}
