import t from 'tap'
import { maskedArguments, withoutSecrets } from '../../../../runtime/tools/masked.ts'

t.test('arguments that the schema marks as secret are masked, wherever they are', async (t) => {
  const schema = {
    type: 'object',
    properties: {
      pin: { type: 'string', writeOnly: true },
      card: {
        type: 'object',
        properties: { number: { type: 'string', format: 'password' }, name: { type: 'string' } },
      },
      codes: { type: 'array', items: { type: 'string', writeOnly: true } },
    },
  }
  const given = { pin: '1234', card: { number: '4111', name: 'Ada' }, codes: ['a', 'b'], day: 'Monday' }
  t.same(maskedArguments(schema, given), {
    pin: '***',
    card: { number: '***', name: 'Ada' },
    codes: ['***', '***'],
    day: 'Monday',
  })
  t.equal(given.pin, '1234', 'the tool gets what it needs')
})

t.test('a schema that marks nothing, or is none, masks nothing', async (t) => {
  t.same(maskedArguments({ type: 'object' }, { pin: '1' }), { pin: '1' })
  t.same(maskedArguments(undefined, { pin: '1' }), { pin: '1' })
})

t.test('an answer that sends a secret header back has it masked, with its scheme and without', async (t) => {
  const headers = { authorization: 'Bearer sk-12345678', accept: 'json' }
  t.equal(withoutSecrets('{"auth":"Bearer sk-12345678"}', headers), '{"auth":"***"}')
  t.equal(withoutSecrets('key sk-12345678, as json', headers), 'key ***, as json')
})
