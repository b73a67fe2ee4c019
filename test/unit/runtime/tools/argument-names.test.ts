import { test } from 'tap'
import { argumentNames, unnamedArguments } from '../../../../runtime/tools/argument-names.ts'

test('arguments are named by the schema and by those it is put together from', async (t) => {
  const schema = {
    type: 'object',
    properties: { a: {}, nested: { type: 'object', properties: { inner: {} } } },
    allOf: [{ $ref: '#/$defs/more' }, { $ref: '#/allOf/1' }, { $ref: 'https://example.com/' }],
    if: { properties: { kind: { const: 'x' } } },
    // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
    then: { anyOf: [{ properties: { b: {} } }] },
    $defs: { more: { properties: { 'c/d': {} } }, unused: { properties: { never: {} } } },
  }
  t.strictSame([...argumentNames(schema)].sort(), ['a', 'b', 'c/d', 'kind', 'nested'])
  t.strictSame([...argumentNames({ type: 'object', properties: [] })], [])
  t.notOk(argumentNames({ properties: {} }).has('constructor'))
})

test('every keyword of JSON Schema that combines schemas is followed', async (t) => {
  for (const keyword of ['allOf', 'anyOf', 'oneOf']) {
    const schema = { [keyword]: [{ properties: { a: {} } }, { properties: { b: {} } }] }
    t.strictSame([...argumentNames(schema)], ['a', 'b'], keyword)
  }
})

test('arguments that are not named are found, unless the schema is open for others', async (t) => {
  const closed = { type: 'object', properties: { a: {} } }
  t.strictSame(unnamedArguments(closed, { a: 1, b: 2, toString: 3 }), ['b', 'toString'])
  t.strictSame(unnamedArguments({ type: 'object' }, { b: 2 }), ['b'])
  t.strictSame(unnamedArguments({ ...closed, additionalProperties: { type: 'string' } }, { b: 2 }), [])
  t.strictSame(unnamedArguments({ ...closed, patternProperties: { '^x': {} } }, { x: 2 }), [])
})
