import { test } from 'tap'
import type { OpenSession } from '../../../../../runtime/call/link/messages.ts'
import { NOTHING_YET } from '../../../../../runtime/call/log/fold.ts'
import { resumeOf } from '../../../../../runtime/call/log/resume.ts'
import { desk } from './support/desk.ts'

type Agent = Partial<OpenSession['agent']>
type Item = NonNullable<Agent['collect']>[number]

const item = (name: string, type: Item['type'], more: Partial<Item> = {}): Item => ({
  name,
  type,
  spellBack: true,
  secret: false,
  attempts: 3,
  ...more,
})
const SECRET = { spellBack: false, secret: true } as const

function collects(items: Item[], open: Partial<OpenSession> = {}) {
  const on = desk({ collect: items, firstMessage: '', deadAir: { enabled: false, phrases: [] } }, open)
  on.report({ type: 'begin' })
  on.take()
  return on
}

test('a value is asked for, read back and given to the model, whose turn none of the answers is', (t) => {
  const on = collects([item('phone', 'phone')])
  on.report({ type: 'collect', id: 'tool-1', name: 'phone' })
  t.same(on.take(), ['says: What is your phone number?'])
  t.ok(on.says('four one five, double five five, oh one two three'), 'no model answers it')
  t.same(on.take(), [
    'turn: four one five, double five five, oh one two three',
    'remembers: four one five, double five five, oh one two three',
    'stops',
    'says: I have 4 1 5, 5 5 5, 0 1 2 3. Is that right?',
  ])
  on.speaks('I have 4 1 5, 5 5 5, 0 1 2 3. Is that right?', 'collect')
  on.take()
  t.ok(on.says('No, the last digit is five.'))
  t.match(on.take(), [/^turn/, /^remembers/, 'stops', 'says: I have 4 1 5, 5 5 5, 0 1 2 5. Is that right?'])
  t.ok(on.says('Yes.'))
  t.match(on.take(), [/^turn/, /^remembers/, 'stops', 'collected: phone +14155550125, answers'])
  t.notOk(on.says('And what do you need it for?'), 'the next turn is the model’s')
  t.match(
    on.told.filter(({ type }) => type === 'collected'),
    [{ id: 'tool-1', value: '+14155550125', confidence: 0.98, attempts: 1, secret: false }],
  )
  t.end()
})

test('a value is read in the groups that the caller paused between; the turn is logged as it was heard', (t) => {
  const on = collects([item('street', 'address', { spellBack: false })])
  on.report({ type: 'collect', id: 'tool-1', name: 'street' })
  on.take()
  const text = 'Mill Lane 7 nine oh two one oh Leeds'
  const groups = 'Mill Lane 7, nine oh two one oh, Leeds'
  on.report({ type: 'turn_over', turn: { text, startMs: 0, endMs: 1 }, kept: false, groups })
  const [turn, , , collected] = on.take()
  t.equal(turn, `turn: ${text}`)
  t.equal(collected, 'collected: street Mill Lane 7, 90210, Leeds, answers')
  t.end()
})

test('values that are wanted at once are collected one after the other; then the model goes on', (t) => {
  const on = collects([
    item('name', 'name', { spellBack: false }),
    item('day', 'date', { spellBack: false, prompt: 'Which day?' }),
  ])
  on.report({ type: 'collect', id: 'tool-1', name: 'name' })
  on.report({ type: 'collect', id: 'tool-2', name: 'day' })
  t.same(on.take(), ['says: What is your name, please?'])
  on.says('Anna Schmidt')
  t.match(on.take().slice(-2), ['collected: name Anna Schmidt', 'says: Which day?'])
  on.says('the third of March')
  t.same(on.take().slice(-1), ['collected: day 2027-03-03, answers'])
  t.end()
})

test('after its attempts a value is given up, with what was heard; a question is the model’s to answer', (t) => {
  const on = collects([item('phone', 'phone', { attempts: 2 })])
  on.report({ type: 'collect', id: 'tool-1', name: 'phone' })
  on.says('I do not know')
  t.match(on.take().at(-1), /could you say it again/i)
  on.says('no idea')
  t.same(on.take().slice(-1), ['gave_up: phone, answers'])
  t.match(on.told.at(-1), { status: 'gave_up', heard: 'no idea', attempts: 2 })
  on.report({ type: 'collect', id: 'tool-2', name: 'phone' })
  on.take()
  on.says('What do you need it for?')
  t.same(on.take().slice(-1), ['not_answered: phone, answers'])
  t.end()
})

test('keys end with their number, with #, or with a pause, and are not read back', (t) => {
  const on = collects([item('pin', 'digits', { length: 4 }), item('phone', 'phone')])
  on.report({ type: 'collect', id: 'tool-1', name: 'pin' })
  on.take()
  for (const key of '1234') on.key(key)
  t.same(on.take().slice(-2), [
    'turn: [The caller pressed 1 2 3 4 on the keypad] by 0,1,2,3',
    'collected: pin 1234, answers',
  ])
  on.report({ type: 'collect', id: 'tool-2', name: 'phone' })
  on.take()
  for (const key of '4155550123#') on.key(key)
  t.same(on.take().slice(-1), ['collected: phone +14155550123, answers'])
  on.report({ type: 'collect', id: 'tool-3', name: 'phone' })
  on.take()
  for (const key of '41555') on.key(key)
  on.pass(2_000)
  on.standStill(2_000)
  t.notMatch(
    on.take().join(),
    /collected|could you say it again/i,
    'a machine that stands still is no pause of the caller',
  )
  for (const key of '50123') on.key(key)
  on.pass(2_900)
  t.notMatch(on.take().join(), /collected/)
  on.pass(300)
  t.same(on.take().slice(-1), ['collected: phone +14155550123, answers'])
  t.end()
})

test('a secret is in no event and no note: the api node alone is given it', (t) => {
  const on = collects([item('card', 'digits', { ...SECRET, luhn: true })])
  on.report({ type: 'collect', id: 'tool-1', name: 'card' })
  on.take()
  on.says('four two four two four two four two four two four two four two four two')
  t.match(on.take(), ['turn: ***', 'stops', 'collected: card keeps 4242424242424242, answers'])
  t.notMatch(JSON.stringify(on.told), /4242|four/)
  on.report({ type: 'collect', id: 'tool-2', name: 'card' })
  for (const key of '4242424242424242#') on.key(key)
  t.match(on.take().slice(-2), [
    /^turn: \[The caller pressed \*\*\*/,
    'collected: card keeps 4242424242424242, answers',
  ])
  on.report({ type: 'collect', id: 'tool-3', name: 'card' })
  on.report({ type: 'over_speech', text: 'four two four two', startMs: 0, endMs: 0 })
  on.report({ type: 'heard_words', text: 'four two four two', final: true, startMs: 0, endMs: 0 })
  on.report({ type: 'closing' })
  t.notMatch(JSON.stringify(on.told), /4242|four/, 'nor what was cut off by the end of the call')
  t.end()
})

test('a worker that takes the call over asks for the value again, or reads it back again', (t) => {
  const session = (collecting: object) => ({
    elapsedMs: 20_000,
    resume: {
      ...resumeOf(NOTHING_YET),
      greeting: 'done' as const,
      collecting: { id: 'tool-1', name: 'phone', attempts: 2, ...collecting },
    },
  })
  const asks = desk({ collect: [item('phone', 'phone')] }, session({ phase: 'asking' }) as Partial<OpenSession>)
  asks.report({ type: 'begin' })
  t.same(asks.take(), ['says: What is your phone number?'])
  const reads = desk(
    { collect: [item('phone', 'phone')] },
    session({ phase: 'confirming', value: '+14155550123', confidence: 0.9 }) as Partial<OpenSession>,
  )
  reads.report({ type: 'begin' })
  t.same(reads.take(), ['says: I have 4 1 5, 5 5 5, 0 1 2 3. Is that right?'])
  reads.says('yes')
  t.same(reads.take().slice(-1), ['collected: phone +14155550123, answers'])
  t.match(reads.told.at(-1), { attempts: 2 })
  t.end()
})

test('a supervisor who takes over has the caller’s turns', (t) => {
  const on = collects([item('phone', 'phone')])
  on.report({ type: 'collect', id: 'tool-1', name: 'phone' })
  on.take()
  on.supervise({ type: 'took_over' })
  t.ok(on.take().includes('not_answered: phone'))
  t.end()
})
