import t from 'tap'
import { FillBudget, fillHeader, fillJson, fillUrl, UnfitArgument } from '../../../../runtime/tools/template.ts'

t.test('what stands in a URL stays one piece of it', async (t) => {
  t.equal(
    fillUrl('https://a.example/o/{{id}}?q={{ q }}', { id: '../a b', q: 'x&y=#1' }),
    'https://a.example/o/..%2Fa%20b?q=x%26y%3D%231',
  )
  t.equal(new URL(fillUrl('https://a.example/o/{{id}}/x', { id: '../../admin' })).pathname, '/o/..%2F..%2Fadmin/x')
  for (const id of ['.', '..']) t.throws(() => fillUrl('https://a.example/o/{{id}}', { id }), UnfitArgument)
  t.equal(fillUrl('https://a.example/{{gone}}{{constructor}}', {}), 'https://a.example/')
})

t.test('a header holds one line', async (t) => {
  t.equal(fillHeader('Bearer {{key}}', { key: 'k' }), 'Bearer k')
  t.throws(() => fillHeader('{{key}}', { key: 'a\r\nx: y' }), UnfitArgument)
})

t.test('a body keeps the types of what fills it', async (t) => {
  const values = { n: 3, list: [1, 2], text: 'say "hi"' }
  t.same(fillJson({ a: '{{n}}', b: ['{{list}}', '{{n}}!'], c: '{{text}}', d: null, e: '{{gone}}' }, values), {
    a: 3,
    b: [[1, 2], '3!'],
    c: 'say "hi"',
    d: null,
    e: null,
  })
})

t.test('what fills one request is bounded over all its parts', async (t) => {
  const values = { long: 'x'.repeat(64_000) }
  const many = '{{long}}'.repeat(17)
  for (const fill of [fillUrl, fillHeader, fillJson]) {
    t.throws(() => fill(many, values), { name: 'UnfitArgument', message: /over 1048576 characters/ })
  }
  t.throws(() => fillJson(Array(17).fill('{{long}}'), values), UnfitArgument)
  const budget = new FillBudget()
  fillHeader('{{long}}'.repeat(16), values, budget)
  t.throws(() => fillUrl('https://a.example/{{long}}', values, budget), UnfitArgument)
})
