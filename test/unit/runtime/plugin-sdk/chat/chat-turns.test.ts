import t from 'tap'
import type { ChatRequest, Message } from '../../../../../runtime/plugin-sdk/chat/chat-request.ts'
import { chatTurns } from '../../../../../runtime/plugin-sdk/chat/chat-turns.ts'

const TOOL = { name: 'weather', description: '', parameters: { type: 'object' } }
const turnsOf = (messages: Message[], tools: ChatRequest['tools'] = [TOOL]) => chatTurns({ messages, tools })
const shapeOf = (turns: ReturnType<typeof chatTurns>['turns']) =>
  turns.map(
    ({ role, parts }) => `${role}: ${parts.map((part) => (part.type === 'text' ? part.text : part.type)).join(' + ')}`,
  )

t.test('instructions are put apart, turns of one side together, blanks are dropped', async (t) => {
  const { system, turns } = turnsOf([
    { role: 'system', content: 'Be brief.' },
    { role: 'user', content: 'Hello' },
    { role: 'user', content: ' ' },
    { role: 'system', content: 'Mention the rain.' },
    { role: 'user', content: 'Anybody there?' },
  ])
  t.equal(system, 'Be brief.\n\nMention the rain.')
  t.same(shapeOf(turns), ['user: Hello + Anybody there?'])
})

t.test('a conversation begins and ends with the user, whoever spoke', async (t) => {
  const { turns } = turnsOf([{ role: 'assistant', content: 'Good morning!' }])
  t.same(shapeOf(turns), [
    'user: (The caller has not said anything.)',
    'assistant: Good morning!',
    'user: (The caller has not said anything.)',
  ])
  t.same(shapeOf(turnsOf([]).turns), ['user: (The caller has not said anything.)'])
})

t.test('calls made at once are answered at once, also where somebody spoke in between', async (t) => {
  const { turns } = turnsOf([
    { role: 'user', content: 'Rain?' },
    { role: 'tool_call', id: '1', name: 'weather', arguments: '{"city":"Paris"}' },
    { role: 'tool_call', id: '2', name: 'weather', arguments: '[1]' },
    { role: 'tool_call', id: '3', name: 'weather', arguments: '{}' },
    { role: 'user', content: 'Hello?' },
    { role: 'tool_result', id: '2', name: 'weather', content: 'rain' },
    { role: 'tool_result', id: '1', name: 'weather', content: 'sun' },
  ])
  t.same(shapeOf(turns), ['user: Rain?', 'assistant: call + call', 'user: result + result + Hello?'])
  t.match(turns[1]?.parts, [{ input: { city: 'Paris' } }, { input: {} }])
  t.match(turns[2]?.parts, [
    { id: '1', text: 'sun' },
    { id: '2', text: 'rain' },
  ])
})

t.test('without tools what they said is told as text', async (t) => {
  const { turns } = turnsOf(
    [
      { role: 'user', content: 'Rain?' },
      { role: 'tool_call', id: '1', name: 'weather', arguments: '{}' },
      { role: 'tool_result', id: '1', name: 'weather', content: 'sun' },
    ],
    [],
  )
  t.same(shapeOf(turns), ['user: Rain? + (The tool weather answered: sun)'])
})
