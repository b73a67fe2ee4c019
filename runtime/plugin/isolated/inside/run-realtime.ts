import type { Realtime, RealtimeConfig, RealtimeServerEvent } from '../../../../packages/plugin/realtime.ts'
import {
  realtimeAddressOf,
  realtimeEventOf,
  realtimeFaultOf,
  textsOf,
} from '../../../../packages/plugin/realtime-values.ts'
import type { RealtimeNews } from '../messages.ts'
import type { RealtimeInput } from '../realtime-inputs.ts'

export interface RealtimeOutput {
  news(news: RealtimeNews): void
  /** A message for the provider; or, behind the news of it, the sound of an answer. */
  bytes(bytes: Uint8Array): Promise<void> | void
  result(result: unknown): void
}

const encoder = new TextEncoder()

/** One session of a speech-to-speech model, until its inputs end. Throws what the plugin throws. Runs in Deno, too. */
export async function runRealtime(
  realtime: Realtime,
  config: RealtimeConfig,
  inputs: AsyncIterable<RealtimeInput>,
  out: RealtimeOutput,
): Promise<void> {
  const session = realtime.session(config)
  out.result(realtimeAddressOf(session))
  for await (const input of inputs) {
    if (input.type === 'tell') {
      for (const message of textsOf(session.serialise(input.event), 'serialise()')) {
        out.news({ type: 'send' })
        await out.bytes(encoder.encode(message))
      }
    } else if (input.type === 'closed') {
      const fault = session.closed?.(input.code, input.reason)
      out.news(fault === undefined ? { type: 'closed' } : { type: 'closed', fault: realtimeFaultOf(fault) })
    } else {
      let events: readonly RealtimeServerEvent[]
      try {
        events = session.parse(input.raw)
      } catch {
        out.news({ type: 'malformed' })
        continue
      }
      for (const given of events) {
        const event = realtimeEventOf(given)
        if (event.type === 'audio') {
          out.news({ type: 'sound', responseId: event.responseId, itemId: event.itemId })
          await out.bytes(event.bytes)
        } else out.news({ type: 'happened', event })
      }
    }
  }
}
