import type { OpenConversation } from '../call/link/linked-conversation.ts'
import { PatchbayError } from '../lib/errors.ts'
import { prepareOpusRepair } from '../media/codecs/opus-repair.ts'
import { Conversation, type ConversationDeps } from './conversation.ts'
import type { ChainEvents } from './providers/chain.ts'
import { openProviders } from './providers/providers.ts'

/** Makes the function that the link calls for every session it is offered. */
export function conversations(deps: ConversationDeps): OpenConversation {
  return async (open, port) => {
    // Read before the first await: it separates what the caller said from what is not answered yet.
    const openedMs = deps.clock.monotonicMs()
    if (open.format.encoding === 'opus') await prepareOpusRepair()
    const events: ChainEvents = {
      failed(stage, message, { fault }, err) {
        deps.observer.failure(stage)
        deps.log.warn({ callId: open.callId, stage, fault, err }, message)
        port.tell({ type: 'fault', stage, sentence: message })
      },
      switched: (stage, from, to) => port.tell({ type: 'provider_switched', stage, from, to }),
    }
    const { providers: source, warm, ...shared } = deps
    const providers =
      (await warm?.take(open.callId, events)) ??
      (await openProviders({ source, keys: open.keys, ...shared }, open.agent, events))
    // A call that is new is answered once this is ready.
    const answeredMs = (open.resume === undefined ? deps.clock.monotonicMs() : openedMs) - open.elapsedMs
    const conversation = new Conversation(deps, open, port, providers, answeredMs)
    try {
      await conversation.start()
    } catch (cause) {
      await conversation.close('failed to start')
      throw cause instanceof PatchbayError ? cause : new PatchbayError('internal', { cause })
    }
    return conversation
  }
}
