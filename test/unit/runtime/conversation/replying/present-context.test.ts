import { llm } from '@livekit/agents'
import t from 'tap'
import { presentContext } from '../../../../../runtime/conversation/replying/present-context.ts'

const textOf = ({ items }: llm.ChatContext) =>
  items.map((item) => (item.type === 'message' ? item.textContent : item.type))

t.test('an answer after a tool is made from what was said while it ran, too', async (t) => {
  const present = llm.ChatContext.empty()
  present.addMessage({ role: 'user', content: "Book nine o'clock." })
  const before = present.copy()
  const call = llm.FunctionCall.create({ callId: 'c1', name: 'book', args: '{}' })
  before.items.push(call, llm.FunctionCallOutput.create({ callId: 'c1', name: 'book', output: 'done', isError: false }))
  present.addMessage({ role: 'user', content: "No, ten o'clock." })
  present.addMessage({ role: 'assistant', content: 'Changing that to ten.' })
  t.same(textOf(presentContext(before, present)), [
    "Book nine o'clock.",
    "No, ten o'clock.",
    'Changing that to ten.',
    'function_call',
    'function_call_output',
  ])
  t.equal(before.items.length, 3, 'the conversation’s own is unchanged')
})

t.test('an answer to the caller is made from the context as it is', async (t) => {
  const context = llm.ChatContext.empty()
  context.addMessage({ role: 'user', content: 'Hello?' })
  t.equal(presentContext(context, llm.ChatContext.empty()), context)
})

t.test('an answer to a caller who cut in is made from what they heard before', async (t) => {
  const context = llm.ChatContext.empty()
  context.addMessage({ role: 'user', content: 'Where can I park?', createdAt: 1 })
  const present = context.copy()
  context.addMessage({ role: 'user', content: 'And what does it cost?', createdAt: 9 })
  present.addMessage({ role: 'assistant', content: 'Our parking', interrupted: true, createdAt: 5 })
  t.same(textOf(presentContext(context, present)), ['Where can I park?', 'Our parking', 'And what does it cost?'])
})
