import t from 'tap'
import {
  argumentsOf,
  repeatedName,
  sampleOf,
  schemaOf,
} from '../../../web/console/src/screens/agent/tools/tool-arguments.ts'

const text = { type: 'string' }
const SCHEMA = {
  type: 'object',
  properties: { order_id: { ...text, description: 'On the invoice' }, copies: { type: 'integer' } },
  required: ['order_id'],
}

t.test('a schema that rows can say comes back from them as it was', async (t) => {
  const given = argumentsOf(SCHEMA)
  t.same('rows' in given && schemaOf(given.rows), SCHEMA)
  t.same(argumentsOf(undefined), { rows: [] })
  t.same(argumentsOf({ type: 'object' }), { rows: [] })
})

t.test('a schema that says more stays text', async (t) => {
  for (const more of [
    { ...SCHEMA, additionalProperties: false },
    { ...SCHEMA, properties: { ...SCHEMA.properties, tags: { type: 'array', items: text } } },
    { ...SCHEMA, properties: { order_id: { ...text, enum: ['a'] } } },
    { ...SCHEMA, properties: { order_id: {} } },
    { ...SCHEMA, required: ['order_id', 'name'] },
    { type: 'string' },
    { type: 'object', properties: null },
  ]) {
    t.same(argumentsOf(more), { text: JSON.stringify(more, null, 2) })
  }
})

t.test('rows without a name are left out, and a name that several have is found', async (t) => {
  const row = { name: '', type: 'boolean', description: '', isRequired: true } as const
  const named = { ...row, name: 'urgent' }
  t.same(schemaOf([row, named]), { type: 'object', properties: { urgent: { type: 'boolean' } }, required: ['urgent'] })
  t.equal(repeatedName([row, row, named]), undefined)
  t.equal(repeatedName([named, row, named]), 'urgent')
})

t.test('a sample has each argument with an empty value', async (t) => {
  t.equal(sampleOf(argumentsOf(SCHEMA)), '{"order_id":"","copies":0}')
  t.equal(sampleOf({ text: JSON.stringify(SCHEMA) }), '{"order_id":"","copies":0}')
  t.equal(sampleOf({ text: '{' }), '{}')
})
