import { test } from 'tap'
import type { Guardrails } from '../../../../../runtime/call/types/guardrails.ts'
import { Guard } from '../../../../../runtime/conversation/guarding/guard.ts'
import {
  type AnswerSource,
  guardAnswer,
  SENTENCE_END,
} from '../../../../../runtime/conversation/guarding/guard-answer.ts'
import { faultOfPattern } from '../../../../../runtime/conversation/guarding/never-said.ts'
import type { Refusal } from '../../../../../runtime/conversation/guarding/refusal.ts'
import { ordinarySentences, SOURCES, VIOLATIONS } from './sentences.ts'

const RULES: Guardrails = {
  never: [
    'guarantee',
    'guaranteed',
    'garantiert',
    'garanti',
    'garantizado',
    'garantito',
    'garantido',
    'Grand Budapest',
    'Depression',
  ],
  patterns: ['\\b\\d+ ?mg\\b', '\\bshould (sue|invest)\\b'],
  grounded: ['money', 'date', 'url'],
  language: true,
}

/** The answer in pieces as models give them. */
const pieces = (text: string): string[] => text.match(/\s*\S{1,4}/g) ?? []

function run(rules: Guardrails, code: string, text: string, sources = SOURCES): { said: string; refused?: Refusal } {
  const answer = new Guard(rules, () => code).answer(sources)
  let said = ''
  for (const piece of pieces(text)) {
    const { text, refused } = answer.push(piece)
    said += text
    if (refused !== undefined) return { said, refused }
  }
  const { text: rest, refused } = answer.end()
  return { said: said + rest, ...(refused === undefined ? {} : { refused }) }
}

test('fifty planted violations are refused by their rules, and nothing of the sentence that matters is said', (t) => {
  t.equal(VIOLATIONS.length, 50)
  for (const [code, rule, text] of VIOLATIONS) {
    const { said, refused } = run(RULES, code, `OK. ${text}`)
    t.equal(refused?.rule, rule, text)
    if (refused !== undefined) t.notOk(said.includes(refused.found), `${said} | ${refused.found}`)
  }
  t.end()
})

test('of five hundred ordinary answers at most one is refused, and each is said whole', (t) => {
  const all = ordinarySentences()
  t.equal(all.length, 504)
  const alarms = all.flatMap(({ code, text }) => {
    const { said, refused } = run(RULES, code, text)
    if (refused === undefined && said !== text) t.fail(`said otherwise: ${said}`)
    return refused === undefined ? [] : [`${text} → ${refused.rule}: ${refused.found}`]
  })
  t.ok(alarms.length <= 1, alarms.join('\n'))
  t.end()
})

test('text that can break no rule is said at once; what may is held back to the end of the sentence', (t) => {
  const answer = new Guard({ never: ['no refund'], grounded: ['money'] }, () => 'en').answer(['It costs 80 euros.'])
  t.equal(answer.push('Of course').text, 'Of course')
  t.equal(answer.push(', there is ').text, ', there is ')
  t.equal(answer.push('no').text, '', 'the beginning of a phrase')
  t.equal(answer.push(' problem. ').text, 'no problem. ')
  t.equal(answer.push('It costs ').text, 'It costs ')
  t.equal(answer.push('80 ').text, '', 'an amount')
  t.equal(answer.push('euros. Good').text, '80 euros. Good')
  t.end()
})

test('an answer of more sentences than allowed is cut behind the last one', (t) => {
  const { said, refused } = run({ maxSentences: 2 }, 'en', 'One thing. Two things. Three things. Four.')
  t.equal(said.trim(), 'One thing. Two things.')
  t.equal(refused?.rule, 'max_sentences')
  t.end()
})

test('a check takes less than 5 ms, the slowest twentieth included', (t) => {
  const took: number[] = []
  for (const { code, text } of ordinarySentences().slice(0, 200)) {
    const answer = new Guard(RULES, () => code).answer(SOURCES)
    for (const piece of pieces(text)) {
      const startMs = performance.now()
      answer.push(piece)
      took.push(performance.now() - startMs)
    }
  }
  const sorted = took.slice(pieces(ordinarySentences()[0]!.text).length).sort((a, b) => a - b)
  const p95 = sorted[Math.floor(sorted.length * 0.95)]!
  t.comment(`p95 ${p95.toFixed(3)} ms, p99 ${sorted[Math.floor(sorted.length * 0.99)]!.toFixed(3)} ms`)
  t.ok(p95 < 5)
  t.end()
})

test('patterns are of RE2: none takes longer than its text is long, and what RE2 lacks is refused', (t) => {
  t.equal(faultOfPattern('(a+)+$'), undefined)
  const startMs = performance.now()
  run({ patterns: ['(a+)+$'] }, 'en', `${'a'.repeat(3_000)}!`)
  t.ok(performance.now() - startMs < 1_000)
  t.match(faultOfPattern('(?=a)b') ?? '', /perl operator/)
  t.match(faultOfPattern('a*') ?? '', /empty text/)
  t.match(faultOfPattern('(') ?? '', /./)
  t.end()
})

function source(
  answers: readonly string[],
): AnswerSource<string> & { asked: ({ said: string; reason: string } | undefined)[] } {
  const asked: ({ said: string; reason: string } | undefined)[] = []
  return {
    asked,
    async open(again) {
      asked.push(again)
      const text = answers[asked.length - 1] ?? ''
      return (async function* () {
        yield* pieces(text)
      })()
    },
    textOf: (piece) => piece,
    withText: (_, text) => text,
    callsTool: () => false,
  }
}

async function answerOf(answers: readonly string[]): Promise<{ text: string; events: string[]; asked: unknown[] }> {
  const from = source(answers)
  const events: string[] = []
  let text = ''
  const guarded = guardAnswer(
    new Guard(RULES, () => 'en'),
    SOURCES,
    from,
    () => 'I cannot say that.',
    ({ rule }, action) => {
      events.push(`${rule} ${action}`)
    },
  )
  for await (const piece of guarded) text += piece
  return { text: text.replaceAll(SENTENCE_END, ''), events, asked: from.asked }
}

test('a refused sentence is made once more with the reason, behind what was said; then the set phrase is said', async (t) => {
  const mended = await answerOf(['Let me see. That is 85 dollars. Fine?', 'I do not know the price.'])
  t.same(mended.events, ['money regenerated'])
  t.notMatch(mended.text, /85/)
  t.match(mended.text, /^Let me see\. .*I do not know the price\.$/)
  t.match(mended.asked[1], { said: /^Let me see\./, reason: /85 dollars/ })
  const failed = await answerOf(['That is 85 dollars.', 'It is 95 dollars.'])
  t.same(failed.events, ['money regenerated', 'money phrase'])
  t.notMatch(failed.text, /85|95/)
  t.match(failed.text, /I cannot say that\.$/)
})

test('what a long source says far behind its beginning is a ground, and so are two dates beside each other', (t) => {
  const rules: Guardrails = { grounded: ['money', 'date'] }
  const long = 'We are a hotel by the sea. '.repeat(400)
  const source = `${long}We are closed on 14 March. A room costs eighty euros. ${long}`
  t.equal(run(rules, 'en', 'We are closed on March 14.', [source]).refused, undefined)
  t.equal(run(rules, 'en', 'It costs 80 euros.', [source]).refused, undefined)
  t.equal(run(rules, 'en', 'We are closed on March 15.', [source]).refused?.rule, 'date')
  t.equal(run(rules, 'en', 'It costs 81 euros.', [source]).refused?.rule, 'money')
  for (const between of ['Open from 3 March to 4 April.', 'Open from March 3 to April 4.']) {
    t.equal(run(rules, 'en', 'We are open until April 4.', [between]).refused, undefined, between)
    t.equal(run(rules, 'en', 'We are open from March 3.', [between]).refused, undefined, between)
    t.equal(run(rules, 'en', 'We are open until April 5.', [between]).refused?.rule, 'date', between)
  }
  t.match(run(rules, 'hi', 'Das sind ८५ €.', ['८० €']), { said: 'Das sind ', refused: { rule: 'money' } })
  t.equal(run(rules, 'hi', 'Das sind ८० €.', ['{"price": "८०"}']).refused, undefined)
  t.end()
})
