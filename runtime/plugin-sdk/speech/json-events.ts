import { readEvents } from '../../../packages/plugin/server-sent-events.ts'

const MAX_MALFORMED = 20

/**
 * The objects of an answer's server-sent events, as they come. Some that make no sense are passed over; many are a fault. Comments that a
 * proxy sends as data, to keep a stream alive, are none of them.
 */
export async function* jsonEvents<T extends object>(response: Response): AsyncGenerator<T> {
  let malformed = 0
  for await (const data of readEvents(response)) {
    if (data === '[DONE]' || data.startsWith(':')) continue
    let event: unknown
    try {
      event = JSON.parse(data)
    } catch {
      event = undefined
    }
    if (typeof event === 'object' && event !== null) yield event as T
    else if (++malformed > MAX_MALFORMED) throw new Error('it sent messages that make no sense')
  }
}
