import type { RealtimeClientEvent, RealtimeItem } from '../../packages/plugin/realtime.ts'
import type { RealtimeProvider } from '../../runtime/plugin-sdk/realtime/realtime-provider.ts'

const CONFIG = {
  instructions: 'You are brief.',
  tools: [{ name: 'book', description: 'Books rooms', parameters: { type: 'object', properties: {} } }],
  transcribe: { language: 'en', keyterms: ['Ada', 'Lovelace'] },
}
const ITEMS: readonly RealtimeItem[] = [
  { type: 'message', id: 'item_1', role: 'system', text: 'Today is Monday.' },
  { type: 'message', id: 'item_2', role: 'user', text: 'Two rooms, please.' },
  { type: 'message', id: 'item_3', role: 'assistant', text: 'One moment.' },
  { type: 'function_call', id: 'item_4', callId: 'call_1', name: 'book', arguments: '{}' },
  { type: 'function_call_output', id: 'item_5', callId: 'call_1', name: 'book', output: '{"room":12}' },
]
/** Of a session that can be edited. */
const EDITS: readonly RealtimeClientEvent[] = [
  { type: 'clear' },
  { type: 'truncate', itemId: 'item_3', endMs: 300 },
  { type: 'delete', itemId: 'item_2' },
  { type: 'cancel', responseId: 'response_1' },
]

/** Every message a speech-to-speech model can be sent. */
export async function converse(model: RealtimeProvider): Promise<string[]> {
  const session = await model.open(CONFIG)
  const messages = [...session.hello]
  const unheard = () => {}
  session.follow({
    send: (message) => messages.push(message),
    ...{ happened: unheard, malformed: unheard, closed: unheard, failed: unheard },
  })
  const events: RealtimeClientEvent[] = [
    ...ITEMS.map((item): RealtimeClientEvent => ({ type: 'create', item })),
    { type: 'audio', samples: new Int16Array(240) },
    { type: 'commit' },
    { type: 'respond', mayCallTools: true },
    { type: 'respond', mayCallTools: false },
    { type: 'configure', config: CONFIG },
    ...(model.capabilities.edits ? EDITS : []),
  ]
  for (const event of events) session.tell(event)
  return messages
}
