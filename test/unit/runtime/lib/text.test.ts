import t from 'tap'
import {
  cleanJson,
  cleanText,
  cutText,
  cutTextStart,
  parseCleanJson,
  shortText,
  TextCleaner,
  unstorableText,
} from '../../../../runtime/lib/text.ts'

const HIGH = '\ud83d'
const LOW = '\udc4d'
const PAIR = HIGH + LOW

t.test('text loses its NULs and has U+FFFD for lone surrogates', async (t) => {
  const cases: [string, string][] = [
    ['plain', 'plain'],
    [PAIR, PAIR],
    [`a${HIGH}`, 'a\ufffd'],
    [`${LOW}a`, '\ufffda'],
    [LOW + HIGH, '\ufffd\ufffd'],
    ['a\0b', 'ab'],
    [`${HIGH}\0${LOW}`, '\ufffd\ufffd'],
  ]
  for (const [given, wanted] of cases) t.equal(cleanText(given), wanted, JSON.stringify(given))
})

t.test('a cut never parts a pair, from either end', async (t) => {
  const text = `ab${PAIR}cd`
  for (let most = 0; most <= text.length; most++) {
    for (const cut of [cutText(text, most), cutTextStart(text, most), cleanText(text, most)]) {
      t.ok(cut.isWellFormed() && !cut.includes('\ufffd'), `${most}: ${cut}`)
      t.ok(cut.length <= most && cut.length >= Math.max(0, most - 1))
    }
  }
  t.equal(cutText(text, 3), 'ab')
  t.equal(cutTextStart(text, 3), 'cd')
  t.equal(shortText(text, 3), 'ab…')
  t.equal(shortText(text, 6), text)
  t.equal(cleanText('x'.repeat(10), 4), 'xxxx')
})

t.test('JSON is clean in its keys and strings, and the same object where it was', async (t) => {
  const clean = { a: ['b', 1, null, { c: PAIR }] }
  t.equal(cleanJson(clean), clean)
  const date = new Date(0)
  t.same(cleanJson({ [`k\0${HIGH}`]: [`v${LOW}`, { deep: 'x\0' }], date }), {
    'k\ufffd': ['v\ufffd', { deep: 'x' }],
    date,
  })
  t.same(cleanJson({ a: 'x'.repeat(10) }, 4), { a: 'xxxx' })
  const own = cleanJson(JSON.parse('{"__proto__":{"polluted":"\\u0000"}}')) as object
  t.same(Object.keys(own), ['__proto__'])
  t.equal(Object.getPrototypeOf(own), Object.prototype)
})

t.test('JSON that is nested without end is cut where it could not be written', async (t) => {
  let deep = '"x"'
  for (let i = 0; i < 20_000; i++) deep = `[${deep}]`
  t.doesNotThrow(() => JSON.stringify(cleanJson(JSON.parse(deep))))
  t.equal(unstorableText(JSON.parse(deep)), undefined)
})

t.test('parsed JSON is clean whatever its escapes say', async (t) => {
  t.same(parseCleanJson('{"a\\u0000":"\\ud83d","b":"\\ud83d\\udc4d"}'), { a: '\ufffd', b: PAIR })
  t.throws(() => parseCleanJson('{'), SyntaxError)
})

t.test('a pair that comes in two pieces stays one', async (t) => {
  const cleaner = new TextCleaner()
  t.equal(
    [`a${HIGH}`, LOW, `${LOW}b\0`, HIGH, `c${HIGH}`].map((piece) => cleaner.push(piece)).join(''),
    `a${PAIR}\ufffdb\ufffdc`,
  )
})

t.test('the first text that can not be stored is named by its path', async (t) => {
  t.equal(unstorableText({ a: [PAIR, { b: 'x' }] }), undefined)
  t.same(unstorableText({ a: ['x', { b: `y${HIGH}` }] }), ['a', '1', 'b'])
  t.same(unstorableText({ a: { 'k\0': 'x' } }), ['a', 'k'])
  t.same(unstorableText('\0'), [])
})
