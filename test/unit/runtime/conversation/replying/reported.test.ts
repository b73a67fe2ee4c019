import { test } from 'tap'
import type { ToolSpec } from '../../../../../runtime/call/types/agent-spec.ts'
import type { ChatRequest, LlmEvent, Message } from '../../../../../runtime/plugin-sdk/chat/chat-request.ts'
import { EventLLM } from '../../../../../runtime/plugin-sdk/chat/event-llm.ts'
import { type CallOptions, call } from '../support/harness.ts'
import { ScriptedStt, ToneTts } from '../support/providers.ts'

/** What others reported of their agents, in conversations of ours. */

const BOOK: ToolSpec = {
  name: 'book',
  description: 'Books a room.',
  parameters: { type: 'object', properties: { guests: { type: 'number' } } },
  kind: 'http',
}
const CALL: LlmEvent = { type: 'tool_call', id: 'book:0', name: 'book', arguments: '{"guests":2}' }
const says = (text: string): LlmEvent => ({ type: 'text', text })

/** A call with a model that gives these events, and the requests it was asked. */
async function callWith(answer: (request: ChatRequest) => LlmEvent[], agent: CallOptions['agent'] = {}) {
  const requests: ChatRequest[] = []
  const voice = new ToneTts()
  const model = new EventLLM({
    ...{ provider: 'test', identity: { title: 'Test' }, model: 'm', temperature: undefined },
    async *chat(request) {
      requests.push(request)
      yield* answer(request)
    },
  })
  const running = await call({
    providers: { stt: new ScriptedStt({ utterances: [] }), llm: model, tts: voice },
    agent: { firstMessage: '', tools: [BOOK], ...agent },
  })
  return { ...running, requests, voice }
}

const lastOf = ({ messages }: ChatRequest): Message | undefined => messages.at(-1)
const shapeOf = (request: ChatRequest | undefined): string[] =>
  (request?.messages ?? []).flatMap((message) => {
    if (message.role === 'system') return []
    if (message.role === 'tool_call') return [`call ${message.id}`]
    if (message.role === 'tool_result') return [`result ${message.id}: ${message.content}`]
    return [`${message.role}: ${message.content}`]
  })

// livekit/agents#5009
test('a model that calls tools without an end has to answer at last', async (t) => {
  const { port, type, hangUp, requests } = await callWith(({ tools }) =>
    tools.length > 0 ? [CALL] : [says('I could not find out.')],
  )
  t.teardown(hangUp)
  port.runTool = () => 'try again'
  type('A room for two.')
  await port.until('the answer', () => port.turns.length === 2)
  t.same(port.said, ['user: A room for two.', 'assistant: I could not find out.'])
  t.ok(port.tools.length <= 6, `${port.tools.length} calls`)
  t.equal(requests.length, port.tools.length + 1)
  t.equal(new Set(shapeOf(requests.at(-1)).filter((line) => line.startsWith('call'))).size, port.tools.length)
})

// livekit/agents#3702
test('what a tool did is known to the next answer where the caller cuts in behind it', async (t) => {
  const { port, type, hangUp, requests } = await callWith((request) => {
    const last = lastOf(request)
    if (last?.role === 'user' && last.content === 'A room for two.') return [CALL]
    return [says(last?.role === 'tool_result' ? 'Your room is booked, it is number twelve. '.repeat(5) : 'It is.')]
  })
  t.teardown(hangUp)
  port.runTool = () => 'room 12'
  type('A room for two.')
  await port.until('the answer sounds', () => port.loudFrames > 5)
  type('Is it booked?')
  await port.until('the next answer', () => port.said.at(-1) === 'assistant: It is.')
  t.equal(port.tools.length, 1)
  const lines = shapeOf(requests.at(-1))
  t.same(lines.slice(0, 3), ['user: A room for two.', 'call book:0', 'result book:0: "room 12"'])
  t.equal(lines.at(-1), 'user: Is it booked?')
})

// pipecat-ai/pipecat#1572
test('words beside a call are heard, and the model knows that it said them', async (t) => {
  const { port, type, hangUp, requests } = await callWith((request) =>
    lastOf(request)?.role === 'user' ? [says('One moment.'), CALL] : [says('Booked.')],
  )
  t.teardown(hangUp)
  port.runTool = () => 'room 12'
  type('A room for two.')
  await port.until('the answer', () => port.said.at(-1)?.includes('Booked.') === true)
  t.match(port.said.join(), /One moment\./)
  t.same(shapeOf(requests[1]), [
    'user: A room for two.',
    'assistant: One moment.',
    'call book:0',
    'result book:0: "room 12"',
  ])
})

// livekit/agents#2512
test('an empty list that a model writes beside a call is not read out', async (t) => {
  const { port, type, hangUp, voice } = await callWith((request) =>
    lastOf(request)?.role === 'user' ? [says('[]'), CALL] : [says('Booked.')],
  )
  t.teardown(hangUp)
  port.runTool = () => 'room 12'
  type('A room for two.')
  await port.until('the answer', () => port.said.at(-1)?.includes('Booked.') === true)
  t.same(
    voice.said.filter((text) => /[[\]]/.test(text)),
    [],
  )
  t.same(port.said, ['user: A room for two.', 'assistant: Booked.'])
})

// pipecat-ai/pipecat#5611
test('a fixed sentence that is cut in is counted as the voice was asked for it', async (t) => {
  const firstMessage = 'Good morning, this is Ada of the Grand Hotel, and I am glad that you call us today.'
  const { port, type, hangUp } = await callWith(() => [says('Fine.')], { firstMessage })
  t.teardown(hangUp)
  await port.until('it sounds', () => port.loudFrames > 5)
  type('Hello?')
  await port.until('the answer', () => port.said.at(-1) === 'assistant: Fine.')
  await port.until('it is counted', () => port.used.characters >= firstMessage.length + 'Fine.'.length)
  t.equal(port.used.characters, firstMessage.length + 'Fine.'.length)
})
