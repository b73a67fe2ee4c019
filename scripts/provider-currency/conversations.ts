import type { ChatRequest } from '../../runtime/plugin-sdk/chat/chat-request.ts'

/** A conversation with a tool's call, its result and a temperature, and one without any of it. */
export const CONVERSATIONS: readonly ChatRequest[] = [
  {
    messages: [
      { role: 'system', content: 'You are brief.' },
      { role: 'user', content: 'Two rooms, please.' },
      { role: 'assistant', content: 'One moment.' },
      { role: 'tool_call', id: 'call_1', name: 'book', arguments: '{"guests":2}' },
      { role: 'tool_result', id: 'call_1', name: 'book', content: '{"room":12}' },
      { role: 'user', content: 'Thank you.' },
    ],
    tools: [
      {
        name: 'book',
        description: 'Books rooms',
        parameters: { type: 'object', properties: { guests: { type: 'number' } }, required: ['guests'] },
      },
    ],
    temperature: 0.7,
  },
  { messages: [{ role: 'user', content: 'Hello?' }], tools: [] },
]
