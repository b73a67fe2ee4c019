import { PatchbayError } from '../../runtime/lib/errors.ts'
import type { Logger } from '../../runtime/process/log.ts'
import type { InteractionEvent } from './interaction.ts'
import { costBody, sourceBody, usageBody } from './schema.ts'

type Step = IteratorResult<InteractionEvent, void>

/**
 * Server-sent events of an interaction whose first step was taken already, so that what fails before the first word is
 * still an answer with its own status. Ending the iteration ends the interaction, whether or not it was begun.
 */
export function eventStream(
  first: Step,
  events: AsyncGenerator<InteractionEvent, void>,
  ids: { session_id: string; agent_id: string },
  { signal, log }: { signal: AbortSignal; log: Logger },
): AsyncIterable<string> {
  async function* write(): AsyncGenerator<string> {
    try {
      for (let step = first; !step.done; step = await events.next()) yield* written(step.value, ids)
    } catch (error) {
      if (signal.aborted) return
      const known = error instanceof PatchbayError ? error : new PatchbayError('internal', { cause: error })
      log.warn({ err: known.cause ?? known }, 'A streamed response was interrupted')
      yield event('error', { detail: known.message })
    }
  }
  const writer = write()
  return {
    [Symbol.asyncIterator]: () => ({
      next: () => writer.next(),
      async return() {
        // An unstarted generator ends without its `finally`: abort the interaction itself.
        const ended = writer.return(undefined)
        await events.return()
        return ended
      },
    }),
  }
}

function* written(step: InteractionEvent, ids: { session_id: string; agent_id: string }): Generator<string> {
  if (step.type === 'delta') {
    yield event('delta', { text: step.text })
    return
  }
  yield event('sources', { sources: step.sources.map(sourceBody) })
  yield event('done', {
    chat_id: step.chatId,
    ...ids,
    present_agent_id: step.presentAgentId,
    response: step.response,
    usage: usageBody(step.usage),
    cost: costBody(step.costUsd),
  })
}

function event(name: string, data: unknown): string {
  return `event: ${name}\ndata: ${JSON.stringify(data)}\n\n`
}
