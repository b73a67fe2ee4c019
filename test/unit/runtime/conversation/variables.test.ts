import t from 'tap'
import { Compile } from 'typebox/compile'
import { builtInVariables } from '../../../../runtime/conversation/built-in-variables.ts'
import {
  DynamicVariables,
  fillVariables,
  fitsVariables,
  fittingVariables,
  namesWithoutValue,
} from '../../../../runtime/conversation/variables.ts'
import { variableRows } from '../../../../runtime/lib/csv-columns.ts'

t.test('variables have at most 200 names and 64 KiB of UTF-8', async (t) => {
  const check = Compile(DynamicVariables({}))
  const named = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, i) => [`n${i}`, 'x']))
  t.ok(check.Check(named(200)))
  t.notOk(check.Check(named(201)))
  t.ok(check.Check({ a: 'x'.repeat(65_000) }))
  t.notOk(check.Check({ a: 'x'.repeat(65_536) }))
  t.notOk(check.Check({ a: 'ä'.repeat(33_000) }))
})

t.test('the variables of a conversation that goes on have the same bounds', async (t) => {
  t.ok(fitsVariables({ a: 'x'.repeat(65_000) }))
  t.notOk(fitsVariables({ a: 'x'.repeat(40_000), b: 'x'.repeat(40_000) }))
  t.notOk(fitsVariables({ a: 'ä'.repeat(33_000) }))
  t.notOk(fitsVariables(Object.fromEntries(Array.from({ length: 201 }, (_, i) => [`n${i}`, 'x']))))
})

t.test('of several sources the first wins, and what does not fit is left out', async (t) => {
  t.same(fittingVariables({ a: '1' }, { a: '2', b: '3', c: 'x'.repeat(70_000) }), { a: '1', b: '3' })
})

t.test('a text that would be too long is not built', async (t) => {
  const bound = { field: 'system_prompt', maxBytes: 1 << 20 }
  t.equal(fillVariables('Hi {{ name }}, {{other}}', { name: 'Ada' }, bound), 'Hi Ada,')
  const template = '{{a}}'.repeat(40_000)
  t.throws(() => fillVariables(template, { a: 'x'.repeat(60_000) }, bound), {
    code: 'agent_text_too_long',
    message: /system_prompt/,
  })
})

t.test('rows of a file have the bounds of the variables they become', async (t) => {
  t.throws(() => variableRows(Array.from({ length: 201 }, (_, i) => `n${i}`)), { code: 'csv_too_many_columns' })
  const check = variableRows(['a', 'b'])
  check(['x'.repeat(60_000), null])
  t.throws(() => check(['x'.repeat(66_000), 'y']), { code: 'csv_row_too_long' })
})

const bound = { field: 'first_message', maxBytes: 1 << 16 }

t.test('a name without a value is left out with its blank, or stands for what is behind the bar', async (t) => {
  t.equal(
    fillVariables('Hello {{first_name}}, this is {{agent_name}}.', { agent_name: 'Ada' }, bound),
    'Hello, this is Ada.',
  )
  t.equal(fillVariables('Hello {{first_name|there}}!', {}, bound), 'Hello there!')
  t.equal(fillVariables('Hello {{first_name|there}}!', { first_name: '' }, bound), 'Hello there!')
  t.equal(fillVariables('Hello {{ first_name | there }}!', { first_name: 'Bo' }, bound), 'Hello Bo!')
})

t.test('names that neither a value nor a bar stands for are known', async (t) => {
  const texts = ['Hello {{first_name}}, {{ plan }} costs {{price|nothing}}.', '{{plan}} {{nick|}} {{agent_name}}']
  t.same(namesWithoutValue(texts, { agent_name: 'Ada', plan: '' }), ['first_name', 'plan'])
  t.same(namesWithoutValue(texts, { first_name: 'Bo', plan: 'Gold', agent_name: 'Ada' }), [])
})

t.test('the day and the time are those of the agent’s zone, in its language', async (t) => {
  const facts = { nowMs: Date.parse('2026-11-26T23:30:00Z'), agentName: 'Ada', callerNumber: '+14155550199' }
  const here = builtInVariables({ ...facts, timeZone: 'Europe/Berlin', language: 'de' })
  t.equal(here.weekday, 'Freitag')
  t.match(here.today, /27\. November 2026/)
  t.match(here.time, /00:30/)
  t.match(here, { caller_number: '+14155550199', called_number: '', agent_name: 'Ada' })
  const there = builtInVariables({ ...facts, timeZone: '', language: 'multi' })
  t.equal(there.weekday, 'Thursday')
  t.match(there.now, /26 November 2026.*23:30/)
})
