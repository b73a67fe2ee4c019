import t from 'tap'
import { judgeAgreement, type MarkedCase } from '../../../../runtime/agent-tests/judge-agreement.ts'

const judged = (verdict: 'pass' | 'fail' | 'unsure', model = 'openai/small', promptVersion = 1) => {
  return { sentence: 'It is polite.', verdict, model, promptVersion }
}
const marked = (mark: 'pass' | 'fail', ...all: MarkedCase['judged']): MarkedCase => {
  return { judged: all, marks: { 'It is polite.': mark } }
}

t.test('a judge agrees with people as often as it says the same, and its silence is no answer', (t) => {
  const cases = [
    ...Array.from({ length: 8 }, () => marked('pass', judged('pass'))),
    marked('fail', judged('pass')),
    marked('fail', judged('unsure')),
    marked('pass', judged('fail', 'openai/small', 2)),
    { judged: [judged('pass')], marks: { 'It is quick.': 'pass' as const } },
  ]
  const [first, second, ...others] = judgeAgreement(cases)
  t.match(first, { model: 'openai/small', promptVersion: 1, marked: 10, agreed: 8, disagreed: 1, unsure: 1 })
  t.ok(first !== undefined && first.low > 0.5 && first.low < 8 / 9 && first.high > 8 / 9)
  t.match(second, { promptVersion: 2, marked: 1, agreed: 0, disagreed: 1 }, 'rubrics are not mixed')
  t.same(others, [])
  t.same(judgeAgreement([]), [])
  t.end()
})
