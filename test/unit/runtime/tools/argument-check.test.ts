import { setImmediate } from 'node:timers/promises'
import { pino } from 'pino'
import t from 'tap'
import { openArgumentChecks, TOO_SLOW } from '../../../../runtime/tools/argument-check.ts'

const checks = openArgumentChecks(pino({ level: 'silent' }))
t.teardown(() => checks.close())

const SLOW = { type: 'object', properties: { x: { type: 'string', pattern: '^(a+)+$' } } }
const slowInput = { x: `${'a'.repeat(60)}!` }
/** Each level of the input is looked at twice. */
const DOUBLING = {
  $defs: {
    a: {
      anyOf: [
        { type: 'object', properties: { x: { $ref: '#/$defs/a' } }, required: ['y'] },
        { type: 'object', properties: { x: { $ref: '#/$defs/a' } }, required: ['z'] },
      ],
    },
  },
  $ref: '#/$defs/a',
}

t.test('arguments that fit pass; the first that does not is named', async (t) => {
  const schema = { type: 'object', properties: { id: { type: 'integer' } }, required: ['id'] }
  t.equal(await checks.faultOfInput('w', schema, { id: 3 }), undefined)
  t.match(await checks.faultOfInput('w', schema, { id: 'three' }), /^\/id must be integer/)
  t.match(await checks.faultOfInput('w', schema, {}), /id/)
  t.equal(await checks.faultOfSchema('w', schema), undefined)
  t.match(await checks.faultOfSchema('w', { type: 'object', pattern: '(' }), /no JSON Schema/)
})

t.test('a pattern that backtracks without end costs its thread a deadline and the event loop nothing', async (t) => {
  let over = false
  let turns = 0
  const answer = checks.faultOfInput('hostile', SLOW, slowInput).finally(() => {
    over = true
  })
  while (!over) {
    turns++
    await setImmediate()
  }
  t.equal(await answer, TOO_SLOW)
  t.ok(turns > 1_000, `the loop turned ${turns} times meanwhile`)
  const another = checks.faultOfInput('hostile', { ...SLOW, description: 'another' }, slowInput).then(() => 'another')
  const again = checks.faultOfInput('hostile', SLOW, slowInput)
  t.equal(await Promise.race([another, again]), TOO_SLOW, 'and is not tried again at once, behind another')
})

t.test('others take turns with a workspace that floods', async (t) => {
  const flood = Array.from({ length: 30 }, (_, i) => {
    const schema = { ...SLOW, description: String(i) }
    return checks.faultOfInput('hostile', schema, slowInput).then(() => 'hostile')
  })
  const quiet = checks.faultOfInput('quiet', { type: 'object' }, {}).then((fault) => fault ?? 'fits')
  const order = await Promise.race([Promise.all(flood).then(() => 'the flood was over first'), quiet])
  t.equal(order, 'fits')
})

t.test('a schema that doubles its work with each level, and deep or large input, are refused', async (t) => {
  const deep = (levels: number) => JSON.parse(`${'{"x":'.repeat(levels)}1${'}'.repeat(levels)}`)
  await Promise.race([
    checks.faultOfInput('w', DOUBLING, deep(60)),
    new Promise((resolve) => setTimeout(resolve, 60_000)),
  ])
  t.match(await checks.faultOfInput('w', { type: 'object' }, deep(5_000)), /nested too deeply/)
  t.match(await checks.faultOfInput('w', { type: 'object' }, { x: 'a'.repeat(300_000) }), /too large/)
  t.equal(await checks.faultOfInput('w', { type: 'object' }, {}), undefined, 'the next check is answered')
})
