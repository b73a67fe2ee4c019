import type { llm } from '@livekit/agents'
import { test } from 'tap'
import { SimLLM } from '../../../../../plugins/sim/llm.ts'
import type { LlmScenario } from '../../../../../plugins/sim/scenario.ts'
import type { ToolSpec } from '../../../../../runtime/call/types/agent-spec.ts'
import { type CallOptions, call, RATE_HZ } from '../support/harness.ts'
import { ScriptedLlm, ScriptedStt, ToneTts } from '../support/providers.ts'
import { speech } from '../support/speech.ts'

const TOOL: ToolSpec = {
  name: 'order_status',
  description: 'Where an order is.',
  parameters: { type: 'object', properties: { id: { type: 'string' } }, required: ['id'] },
  kind: 'http',
}
const HANG_UP: ToolSpec = {
  name: 'end_call',
  description: 'Ends the call.',
  parameters: { type: 'object', properties: {} },
  kind: 'hang_up',
}
const LOOK_UP: ToolSpec = { ...TOOL, name: 'look_up', kind: 'knowledge' }

const withScript = (script: NonNullable<LlmScenario['script']>, tools: ToolSpec[], agent: CallOptions['agent'] = {}) =>
  call({
    providers: { stt: new ScriptedStt({ utterances: [] }), llm: new SimLLM({ script }), tts: new ToneTts() },
    agent: { ...agent, tools },
  })

test('the model calls a tool through the api node, and answers with what came of it', async (t) => {
  const { port, type, hangUp } = await withScript(
    [{ question: 'Where is it?', tool: { name: 'order_status', arguments: { id: 'A1' } }, answer: 'It is {output}.' }],
    [TOOL],
  )
  t.teardown(hangUp)
  port.runTool = () => '{"status":"shipped"}'
  type('Where is it?')
  await port.until('the answer', () => port.turns.length === 2)
  t.same(port.tools, [{ id: 'tool-1', name: 'order_status', arguments: { id: 'A1' } }])
  t.same(port.said, ['user: Where is it?', 'assistant: It is {"status":"shipped"}.'])
})

test('a caller who waits for a tool hears something', async (t) => {
  const { port, type, hangUp } = await withScript(
    [{ question: 'Where is it?', tool: { name: 'order_status', arguments: { id: 'A1' } }, answer: 'Here.' }],
    [TOOL],
    { deadAir: { enabled: true, phrases: [] } },
  )
  t.teardown(hangUp)
  const result = Promise.withResolvers<string>()
  port.runTool = () => result.promise
  type('Where is it?')
  await port.until('something is heard', () => port.loudFrames > 5)
  result.resolve('late')
  await port.until('the answer', () => port.turns.length === 2)
  t.same(port.said.at(-1), 'assistant: One moment, please. Here.')
})

test('knowledge is looked up where the model asks for it', async (t) => {
  const { port, type, hangUp } = await withScript(
    [{ question: 'When?', tool: { name: 'look_up', arguments: { query: 'opening hours' } }, answer: '{output}' }],
    [LOOK_UP],
  )
  t.teardown(hangUp)
  port.passages = [{ documentId: 'd', filename: 'hours.txt', text: 'Nine to five.', score: 1 }]
  type('When?')
  await port.until('the answer', () => port.turns.length === 2)
  t.same(port.asked, ['opening hours'])
  t.match(port.said.at(-1), /Nine to five/)
})

test('an agent that hangs up says goodbye, and the call is over', async (t) => {
  const { port, type, hangUp } = await withScript(
    [{ question: 'Bye', tool: { name: 'end_call', arguments: {} }, answer: '' }],
    [HANG_UP],
  )
  t.teardown(hangUp)
  type('Bye')
  await port.until('the end', () => port.endings.length === 1)
  t.same(port.endings, [{ reason: 'agent_hangup', error: undefined }])
  t.same(port.said, ['user: Bye', 'assistant: Goodbye.'])
})

test('an agent in a language without sentences says nothing by itself, and the call goes on and ends all the same', async (t) => {
  const { port, type, hangUp } = await withScript(
    [
      { question: 'Where?', tool: { name: 'order_status', arguments: { id: 'A1' } }, answer: '여기요.' },
      { question: 'Bye', tool: { name: 'end_call', arguments: {} }, answer: '' },
    ],
    [TOOL, HANG_UP],
    { language: 'ko', deadAir: { enabled: true, phrases: [] } },
  )
  t.teardown(hangUp)
  const result = Promise.withResolvers<string>()
  port.runTool = () => result.promise
  type('Where?')
  setTimeout(() => result.resolve('late'), 5_000)
  await port.until('the answer', () => port.turns.length === 2)
  type('Bye')
  await port.until('the end', () => port.endings.length === 1)
  t.same(port.endings, [{ reason: 'agent_hangup', error: undefined }])
  t.same(port.said, ['user: Where?', 'assistant: 여기요.', 'user: Bye'])
})

test('a tool that fails is told to the model, and the conversation goes on', async (t) => {
  const { port, type, hangUp } = await withScript(
    [{ question: 'Where?', tool: { name: 'order_status', arguments: { id: 'A1' } }, answer: 'I do not know.' }],
    [TOOL],
  )
  t.teardown(hangUp)
  port.runTool = () => Promise.reject(new Error('link lost'))
  type('Where?')
  await port.until('the answer', () => port.turns.length === 2)
  t.same(port.said.at(-1), 'assistant: I do not know.')
})

test('an agent that books and hangs up in one answer says that the booking failed before the call is over', async (t) => {
  const book = { ...TOOL, name: 'book', parameters: { type: 'object' } }
  const model = new ScriptedLlm((_, context) =>
    (toolsIn(context) ?? []).some((result) => result.startsWith('book'))
      ? 'Sorry, that slot is taken.'
      : 'call book and end_call',
  )
  const { port, type, hangUp } = await call({
    providers: { stt: new ScriptedStt({ utterances: [] }), llm: model, tts: new ToneTts() },
    agent: { tools: [book, HANG_UP] },
  })
  t.teardown(hangUp)
  port.runTool = () => Promise.reject(new Error('the slot is taken'))
  type('Book nine, and goodbye.')
  await port.until('the end', () => port.endings.length === 1, WAIT_MS)
  t.same(port.said, ['user: Book nine, and goodbye.', 'assistant: Sorry, that slot is taken.'])
  t.same(port.endings, [{ reason: 'agent_hangup', error: undefined }])
})

const TRANSFER: ToolSpec = {
  name: 'to_sales',
  description: 'Puts the caller through.',
  parameters: { type: 'object', properties: {} },
  kind: 'transfer',
}

test('nobody is put through without a word, and a failed transfer is explained in the language of the agent', async (t) => {
  const { port, type, hangUp } = await withScript(
    [{ question: 'Sales?', tool: { name: 'to_sales', arguments: {} }, answer: '{output}' }],
    [TRANSFER],
    { language: 'de' },
  )
  t.teardown(hangUp)
  let loudBefore = 0
  port.runTool = () => {
    loudBefore = port.loudFrames
    return 'The transfer failed; the caller is still here.'
  }
  type('Sales?')
  await port.until('the answer', () => port.said.join(' ').includes('niemanden'))
  t.ok(loudBefore > 5, `it is said before the call of the tool: ${loudBefore}`)
  t.equal(port.said[1], 'assistant: Einen Moment, ich verbinde Sie.')
  t.match(port.said.at(-1), /Say to the caller: .*Da konnte ich leider niemanden erreichen/)
})

const WAIT_MS = 30_000

/** What a model was asked with: who called what, and what came of it. */
const toolsIn = (context: llm.ChatContext | undefined) =>
  context?.items.flatMap((item) =>
    item.type === 'function_call_output' ? [`${item.name}: ${item.output.replaceAll('"', '')}`] : [],
  )

test('of two tools at once the model knows what the first returned while the second still runs', async (t) => {
  const tools = ['fast', 'slow'].map((name) => ({ ...TOOL, name, parameters: { type: 'object' } }))
  const model = new ScriptedLlm((words) => (words === 'Order both.' ? 'call fast and slow' : 'One is placed.'))
  const { port, type, say, hangUp } = await call({
    providers: { stt: new ScriptedStt({ utterances: ['Is it done?'] }), llm: model, tts: new ToneTts() },
    agent: { tools },
  })
  t.teardown(hangUp)
  const slow = Promise.withResolvers<string>()
  port.runTool = (name) => (name === 'fast' ? 'F-1 placed' : slow.promise)
  type('Order both.')
  await port.until('both are called', () => port.tools.length === 2)
  await say(speech('Is it done?', RATE_HZ))
  await port.until('the answer', () => port.said.includes('assistant: One is placed.'))
  t.match(toolsIn(model.contexts.at(-1))?.toSorted(), ['fast: F-1 placed', /^slow: .*in progress/])
  slow.resolve('S-1 placed')
  await port.until(
    'the model knows both',
    () => toolsIn(model.contexts.at(-1))?.includes('slow: S-1 placed') === true,
    WAIT_MS,
  )
  t.equal(toolsIn(model.contexts.at(-1))?.filter((result) => result.startsWith('fast')).length, 1, 'once')
})

test('what a tool returns after its answer was cut off by a typed turn is told without being asked for', async (t) => {
  const model = new ScriptedLlm((words, context) => {
    if (words === 'Order it.') return 'call order_status'
    return toolsIn(context)?.includes('order_status: shipped') === true ? 'It is shipped.' : 'Not yet.'
  })
  const { port, type, hangUp } = await call({
    providers: { stt: new ScriptedStt({ utterances: [] }), llm: model, tts: new ToneTts() },
    agent: { tools: [{ ...TOOL, parameters: { type: 'object' } }] },
  })
  t.teardown(hangUp)
  const result = Promise.withResolvers<string>()
  port.runTool = () => result.promise
  type('Order it.')
  await port.until('the tool runs', () => port.tools.length === 1)
  type('And then?')
  await port.until('the second turn is answered', () => port.said.includes('assistant: Not yet.'))
  result.resolve('shipped')
  await port.until('it is told', () => port.said.at(-1) === 'assistant: It is shipped.', WAIT_MS)
  t.equal(port.tools.length, 1)
  t.equal(model.asked.length, 3)
})
