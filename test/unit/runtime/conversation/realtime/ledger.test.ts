import { llm } from '@livekit/agents'
import { test } from 'tap'
import {
  argumentsOf,
  HEARD_MS,
  SESSION_ITEM,
  SessionLedger,
  TYPED,
} from '../../../../../runtime/conversation/realtime/ledger.ts'

const PROMPT = llm.ChatMessage.create({ role: 'system', content: 'You are an agent.' })
const user = (content: string, extra = {}) => llm.ChatMessage.create({ role: 'user', content, extra })
const agent = (content: string, extra = {}, interrupted = false) =>
  llm.ChatMessage.create({ role: 'assistant', content, extra, interrupted })
const typesOf = (events: readonly { type: string }[] = []) => events.map(({ type }) => type)

/** A session that answered a question of the caller's with so much sound. */
function answered(lengthMs: number) {
  const ledger = new SessionLedger(true)
  const question = user('Where?')
  ledger.bringUp([PROMPT, question], true)
  ledger.committed('item_1')
  ledger.answered('item_2', { lengthMs })
  return { ledger, question }
}

test('what was spoken is committed as sound, what was typed or said before is text', async (t) => {
  const ledger = new SessionLedger(true)
  const items = [PROMPT, agent('Hello.'), user('Typed.', { [TYPED]: true })]
  t.match(ledger.bringUp(items, false), [
    { type: 'create', item: { role: 'assistant', text: 'Hello.' } },
    { type: 'create', item: { role: 'user', text: 'Typed.' } },
  ])
  t.same(ledger.bringUp(items, false), [], 'nothing is told twice')
  t.same(ledger.bringUp([...items, user('Spoken.')], true), [{ type: 'commit' }])
})

test('what was not heard of an answer is cut off, once', async (t) => {
  const { ledger, question } = answered(4_000)
  const items = [PROMPT, question, agent('It is', { [SESSION_ITEM]: 'item_2', [HEARD_MS]: 1_200.7 }, true)]
  t.same(ledger.bringUp(items, false), [{ type: 'truncate', itemId: 'item_2', endMs: 1_200 }])
  t.same(ledger.bringUp(items, false), [])
})

test('never more is kept than came, though the session may hold more of an answer that was cancelled', async (t) => {
  const { ledger, question } = answered(1_000)
  const whole = agent('It is here.', { [SESSION_ITEM]: 'item_2', [HEARD_MS]: 1_500 }, true)
  t.same(ledger.bringUp([PROMPT, question, whole], false), [{ type: 'truncate', itemId: 'item_2', endMs: 1_000 }])
})

test('an answer of which nothing was heard is deleted, not cut', async (t) => {
  const { ledger, question } = answered(4_000)
  t.same(ledger.bringUp([PROMPT, question, user('No!', { [TYPED]: true })], false)?.[0], {
    type: 'delete',
    itemId: 'item_2',
  })
})

test('an answer that is deleted while more of it comes is deleted once', async (t) => {
  const { ledger, question } = answered(4_000)
  const items = [PROMPT, question, user('No!', { [TYPED]: true })]
  t.match(ledger.bringUp(items, false), [{ type: 'delete', itemId: 'item_2' }, { type: 'create' }])
  ledger.unwanted('item_2')
  ledger.answered('item_2', { lengthMs: 4_100 })
  t.same(ledger.responseOver(), [])
  t.same(ledger.bringUp(items, false), [])
})

test('a session that takes nothing back is not told to, whatever of an answer nobody wanted', async (t) => {
  const [edits, keeps] = [new SessionLedger(true), new SessionLedger(false)]
  for (const ledger of [edits, keeps]) ledger.unwanted('item_9')
  t.same(edits.responseOver(), [{ type: 'delete', itemId: 'item_9' }])
  t.same(keeps.responseOver(), [])
})

test('an answer prepared in vain: the sound belongs to the turn that goes on', async (t) => {
  const { ledger } = answered(500)
  const longer = user('Where is the shop?')
  t.same(ledger.bringUp([PROMPT, longer], true), [{ type: 'delete', itemId: 'item_2' }, { type: 'commit' }])
  ledger.committed('item_3')
  t.same(ledger.bringUp([PROMPT, longer], false), [], 'both pieces are the one turn')
})

test('a turn that goes on without more sound keeps the sound it has, and is not told as text', async (t) => {
  const { ledger } = answered(500)
  t.same(ledger.bringUp([PROMPT, user('Where, please?')], false), [{ type: 'delete', itemId: 'item_2' }])
})

test('of an answer that was written what was heard takes the place', async (t) => {
  const { ledger, question } = answered(0)
  const cut = agent('It is', { [SESSION_ITEM]: 'item_2', [HEARD_MS]: 700 }, true)
  t.match(ledger.bringUp([PROMPT, question, cut], false), [
    { type: 'delete', itemId: 'item_2' },
    { type: 'create', item: { role: 'assistant', text: 'It is' } },
  ])
})

test('each call of a tool has its result behind it, one that has none is closed', async (t) => {
  const ledger = new SessionLedger(true)
  const call = llm.FunctionCall.create({ callId: 'c1', name: 'hang_up', args: '{}' })
  ledger.called('item_5', 'c1')
  t.same(ledger.bringUp([PROMPT, call], false), [], 'it runs')
  const events = ledger.bringUp([PROMPT, call, user('Still there?', { [TYPED]: true })], false)
  t.match(events, [
    { type: 'create', item: { type: 'function_call_output', callId: 'c1' } },
    { type: 'create', item: { text: 'Still there?' } },
  ])
  const next = ledger.bringUp([PROMPT, call, user('And now?', { [TYPED]: true })], false)
  t.same(typesOf(next), ['delete', 'create'], 'the one message in place of the other; the call is not closed again')
})

test('calls and results of another model are told whole', async (t) => {
  const call = llm.FunctionCall.create({ callId: 'c2', name: 'weather', args: '{"city":"Paris"}' })
  const output = llm.FunctionCallOutput.create({ callId: 'c2', name: 'weather', output: 'Sunny.', isError: false })
  const events = new SessionLedger(true).bringUp([PROMPT, call, output], false)
  t.match(events, [
    { item: { type: 'function_call', callId: 'c2', arguments: '{"city":"Paris"}' } },
    { item: { type: 'function_call_output', callId: 'c2', output: 'Sunny.' } },
  ])
})

test('a note that holds for one answer is taken back with the next', async (t) => {
  const ledger = new SessionLedger(true)
  const question = user('When?', { [TYPED]: true })
  const note = llm.ChatMessage.create({ role: 'system', content: 'It opens at nine.' })
  t.same(typesOf(ledger.bringUp([PROMPT, note, question], false)), ['create', 'create'])
  t.same(typesOf(ledger.bringUp([PROMPT, question], false)), ['delete'])
})

test('arguments that were encoded twice, or stand in a fence, are one object', async (t) => {
  const twice = JSON.stringify(JSON.stringify({ city: 'Paris' }))
  t.equal(argumentsOf(twice), '{"city":"Paris"}')
  t.equal(argumentsOf('```json\n{"city":"Paris"}\n```'), '{"city":"Paris"}')
  t.equal(argumentsOf(''), '{}')
  t.equal(argumentsOf('{"city":'), '{"city":', 'what is cut off stays so, for the check of arguments')
})

test('a session that forgets nothing gives way to another where an answer was cut or not heard, and to none for less', async (t) => {
  const session = () => {
    const ledger = new SessionLedger(false)
    const question = user('Where?')
    ledger.bringUp([PROMPT, question], true)
    ledger.answered('item_2', { lengthMs: 2_000 })
    return { ledger, items: [PROMPT, question] }
  }
  const answer = (heardMs: number) => agent('It is', { [SESSION_ITEM]: 'item_2', [HEARD_MS]: heardMs }, true)
  const [cut, heard, unheard, noted] = [session(), session(), session(), session()]
  t.equal(cut.ledger.bringUp([...cut.items, answer(900)], false), undefined)
  t.same(heard.ledger.bringUp([...heard.items, answer(2_000)], false), [], 'it was heard whole')
  t.equal(unheard.ledger.bringUp([...unheard.items, user('No!', { [TYPED]: true })], false), undefined)
  const note = llm.ChatMessage.create({ role: 'system', content: 'Open on Sundays.' })
  t.equal(noted.ledger.bringUp([...noted.items, answer(2_000), note], false)?.length, 1)
  t.same(noted.ledger.bringUp([...noted.items, answer(2_000)], false), [], 'a note may stay')
})

test('a call that a session waits for gets its result alone', async (t) => {
  const call = llm.FunctionCall.create({ callId: 'c1', name: 'weather', args: '{}' })
  const output = llm.FunctionCallOutput.create({ callId: 'c1', name: 'weather', output: 'Sunny.', isError: false })
  const session = () => {
    const ledger = new SessionLedger(false)
    ledger.called('item_5', 'c1')
    return ledger
  }
  const [alone, beside] = [session(), session()]
  t.equal(alone.hasOpenCalls, true)
  t.same(typesOf(alone.bringUp([PROMPT, call, output], false)), ['create'])
  t.equal(alone.hasOpenCalls, false)
  t.equal(beside.bringUp([PROMPT, call, output, user('And?')], true), undefined, 'the caller spoke meanwhile')
})

test('sound that was asked about in vain is of the turn that goes on, unless that is answered otherwise', async (t) => {
  for (const edits of [true, false]) {
    const ledger = new SessionLedger(edits)
    const first = user('Where?')
    ledger.bringUp([PROMPT, first], true)
    ledger.committed('item_1')
    const second = user('Yes')
    ledger.bringUp([PROMPT, first, second], true)
    ledger.committed('item_2')
    ledger.forgetTurn()
    const events = ledger.bringUp([PROMPT, first, user('When?')], true)
    if (edits) t.same(events, [{ type: 'delete', itemId: 'item_2' }, { type: 'commit' }])
    else t.equal(events, undefined, 'another session takes its place')
  }
})

test('sound of a turn that the conversation no longer holds is none of the next turn', async (t) => {
  const ledger = new SessionLedger(true)
  const first = user('Where?')
  ledger.bringUp([PROMPT, first], true)
  ledger.committed('item_1')
  const second = user('When?')
  ledger.bringUp([PROMPT, first, second], true)
  ledger.committed('item_2')
  t.same(
    typesOf(ledger.bringUp([PROMPT, second, user('How?')], false)),
    ['delete', 'create'],
    'what came as words is told as words',
  )
})
