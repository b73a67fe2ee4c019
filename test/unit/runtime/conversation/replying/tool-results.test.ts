import { llm, type voice } from '@livekit/agents'
import t from 'tap'
import { ToolResults } from '../../../../../runtime/conversation/replying/tool-results.ts'

const shown = ({ items }: llm.ChatContext) =>
  items.map((item) => {
    if (item.type === 'message') return item.textContent
    return item.type === 'function_call_output' ? item.output : item.type
  })

/** A caller who asks something else while a tool runs: the library's context, and the tool's call. */
function askedMeanwhile() {
  const context = llm.ChatContext.empty()
  context.addMessage({ role: 'user', content: 'Is it sunny?', createdAt: 1 })
  const call = llm.FunctionCall.create({ callId: 'c1', name: 'weather', args: '{}', createdAt: 2 })
  context.items.push(call)
  context.addMessage({ role: 'user', content: 'What is the price?', createdAt: 3 })
  const run = { functionCall: call, speechHandle: { interrupted: true } } as voice.RunContext
  return { context, call, run }
}

t.test('a question that is asked while a tool runs stays the last thing that was said', async (t) => {
  const { context, run } = askedMeanwhile()
  const results = new ToolResults(() => 4)
  await results.keep(run, Promise.resolve('Sunny.'))
  t.ok(results.areUntold)
  const complete = results.complete(context)
  t.same(shown(complete), ['Is it sunny?', 'function_call', '"Sunny."', 'What is the price?'])
  t.equal(context.items.length, 3, 'the conversation’s own is unchanged')
  t.notOk(results.areUntold)
  t.same(results.complete(context).items, complete.items, 'it is the same result in the next request')
})

t.test('a result that the library has itself is behind its call, too, and there once', async (t) => {
  const { context, run } = askedMeanwhile()
  const results = new ToolResults(() => 4)
  await results.keep(run, Promise.resolve('Sunny.'))
  const own = { callId: 'c1', name: 'weather', output: 'Sunny, it says.', isError: false, createdAt: 4 }
  context.items.push(llm.FunctionCallOutput.create(own))
  t.same(shown(results.complete(context)), ['Is it sunny?', 'function_call', 'Sunny, it says.', 'What is the price?'])
})

t.test('a result takes the place of what said that the tool still runs', async (t) => {
  const { context, run } = askedMeanwhile()
  const results = new ToolResults(() => 4)
  const stand = { callId: 'c1', name: 'weather', output: 'In progress.', isError: false, createdAt: 2 }
  const running = context.copy()
  running.items.splice(2, 0, llm.FunctionCallOutput.create({ ...stand, id: 'lk_running_placeholder/c1' }))
  t.same(shown(results.complete(running))[2], 'In progress.')
  await results.keep(run, Promise.resolve('Sunny.'))
  t.same(shown(results.complete(running)), ['Is it sunny?', 'function_call', '"Sunny."', 'What is the price?'])
})

t.test('results of calls side by side keep their order, also where the library knows no call of them', async (t) => {
  const context = llm.ChatContext.empty()
  context.addMessage({ role: 'user', content: 'Both, please.', createdAt: 1 })
  context.addMessage({ role: 'user', content: 'Hello?', createdAt: 9 })
  const results = new ToolResults(() => 10)
  for (const callId of ['c1', 'c2']) {
    const functionCall = llm.FunctionCall.create({ callId, name: 'look', args: '{}', createdAt: 2 })
    const run = { functionCall, speechHandle: { interrupted: false } } as voice.RunContext
    await results.keep(run, Promise.resolve(callId))
  }
  t.same(shown(results.complete(context)), [
    'Both, please.',
    'function_call',
    'function_call',
    '"c1"',
    '"c2"',
    'Hello?',
  ])
})
