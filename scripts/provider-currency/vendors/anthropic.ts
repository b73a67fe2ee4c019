import { messagesBody } from '../../../plugins/anthropic/messages-body.ts'
import { CONVERSATIONS } from '../conversations.ts'
import type { Vendor } from './vendor.ts'

export const anthropic: Vendor = {
  types: {
    // The API takes a temperature of models before Claude 5; the SDK's types name it no more since 1.0.
    Messages: `import('./package/index.js').default.MessageCreateParamsStreaming & { temperature?: number }`,
  },
  async requests({ llm }) {
    return (llm?.models ?? []).flatMap((model) =>
      CONVERSATIONS.map((conversation) => {
        const value = messagesBody(conversation, { model, maxTokens: 1024, effort: undefined })
        return { type: 'Messages', about: model, value }
      }),
    )
  },
}
