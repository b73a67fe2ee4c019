import { test } from 'tap'
import { parseTest, testFaults } from '../../../../runtime/agent-tests/parse.ts'
import { shareText, wilson } from '../../../../runtime/agent-tests/wilson.ts'

const GOOD = `name: books a table
caller:
  say: [A table for four on Monday., { say: "Yes.", when: /right/i }]
tools:
  book: { when: { day: monday }, returns: { ok: true }, after_ms: 800 }
clock: 2026-03-29T01:30:00 America/Los_Angeles
expect:
  - called: book
    once: true
  - heard: /monday/i
  - latency_p95_ms: { max: 1200 }
`

const faultsOf = (text: string) => parseTest(text).faults ?? []

test('a file with a whole test is read', (t) => {
  const { test: read, faults } = parseTest(GOOD)
  t.equal(faults, undefined)
  t.match(read, { name: 'books a table', expect: [{ called: 'book', once: true }, {}, {}] })
  t.end()
})

test('an unknown key is refused with the nearest known one and its line', (t) => {
  t.same(faultsOf(GOOD.replace('    once', '    onse')), [
    { path: ['expect', 0, 'onse'], message: 'unknown key `onse`; did you mean `once`?', line: 9 },
  ])
  t.match(faultsOf(GOOD.replace('tools:', 'tolls:')), [{ message: /did you mean `tools`/, line: 4 }])
  t.match(faultsOf(GOOD.replace('after_ms', 'after')), [{ message: /did you mean `after_ms`/, line: 5 }])
  t.match(faultsOf(GOOD.replace('when: /right/', 'wen: /right/')), [{ message: /did you mean `when`/, line: 3 }])
  t.end()
})

test('a test without expectations is refused', (t) => {
  t.match(faultsOf(`${GOOD.split('expect:')[0]}expect: []\n`), [{ message: /without expectations proves nothing/ }])
  t.match(faultsOf(GOOD.split('expect:')[0] ?? ''), [{ message: /without expectations proves nothing/ }])
  t.end()
})

test('a bomb of aliases, a file that is too large, and broken YAML are refused', (t) => {
  const bomb = Array.from({ length: 12 }, (_, i) => `a${i}: &a${i} [${Array(9).fill(i === 0 ? 'x' : `*a${i - 1}`)}]`)
  t.match(faultsOf(bomb.join('\n')), [{ message: /alias/i }])
  t.match(faultsOf(`name: ${'x'.repeat(1 << 20)}`), [{ message: /larger than 1024 KiB/ }])
  t.match(faultsOf('name: [unclosed\nexpect: {'), [{ line: Number }])
  t.match(faultsOf(`name: a\nname: b\n`), [{ message: /unique/i, line: 2 }])
  t.match(testFaults(JSON.parse(`${'['.repeat(50)}${']'.repeat(50)}`)), [{ message: /deeply/ }])
  t.end()
})

test('facts that state nothing, two things or a qualifier alone are refused', (t) => {
  const refuses = (fact: string, message: RegExp) =>
    t.match(faultsOf(GOOD.replace('  - heard: /monday/i', `  - ${fact}`)), [{ message }], fact)
  refuses('{ once: true }', /states one fact/)
  refuses('{ heard: a, never_heard: b }', /states one fact/)
  refuses('{ heard: a, times: 2 }', /belongs to `called`/)
  refuses('{ heard: "/(/" }', /unterminated/i)
  refuses('{ turns: { min: 3, max: 2 } }', /above/)
  refuses('{ turns: {} }', /propert/)
  t.end()
})

test('a caller is scripted or simulated, and a line does one thing', (t) => {
  const refuses = (caller: string, message: RegExp) =>
    t.match(faultsOf(GOOD.replace(/caller:\n {2}say.*/, `caller: ${caller}`)), [{ message }], caller)
  refuses('{}', /needs `say`/)
  refuses('{ say: [a], goal: b }', /not both/)
  refuses('{ say: [{ say: a, keys: "1" }] }', /does one of/)
  refuses('{ say: [{ keys: "x" }] }', /./)
  refuses('{ say: [{ silence: 10, barge_in_at: 5 }] }', /needs `say`/)
  const call = '0197f3a2-7c1e-7000-8000-000000000004'
  refuses('{ say: [{ say: a, recorded_turn: 1 }] }', /needs `recorded_call`/)
  refuses(`{ recorded_call: ${call}, say: [{ keys: "1", recorded_turn: 1 }] }`, /needs `say`/)
  refuses(`{ recorded_call: ${call}, say: [a] }`, /needs lines with `recorded_turn`/)
  refuses('{ recorded_call: yesterday, say: [{ say: a, recorded_turn: 1 }] }', /uuid/)
  t.match(faultsOf(GOOD.replace('America/Los_Angeles', 'Mars/Olympus')), [{ message: /must be like/ }])
  t.end()
})

test('the interval of a share is that of Wilson', (t) => {
  // Brown, Cai and DasGupta (2001) and any table: 37 of 40 → 0.801 to 0.974.
  const { low, high } = wilson(37, 40)
  t.ok(Math.abs(low - 0.801) < 0.001 && Math.abs(high - 0.974) < 0.001, `${low} ${high}`)
  t.equal(shareText(37, 40), '37 of 40, 80–97 %')
  t.same(wilson(0, 0), { low: 0, high: 1 })
  t.ok(wilson(5, 5).low > 0.5 && wilson(5, 5).high === 1)
  t.end()
})
