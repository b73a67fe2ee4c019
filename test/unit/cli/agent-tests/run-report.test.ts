import t from 'tap'
import { type ReportedRun, runText } from '../../../../cli/agent-tests/run-report.ts'

const RUN: ReportedRun = {
  ...{ run_id: 'r', status: 'done', version: 'draft', total: 5, passed: 3, failed: 2, unsure: 0, errors: 0 },
  tests: [],
}
const share = (passed: number, others: Partial<ReportedRun['tests'][number]> = {}): ReportedRun['tests'][number] => {
  const counts = { total: 5, passed, failed: 5 - passed, unsure: 0, errors: 0 }
  return { name: 'says the price', ...counts, before: null, published: null, ...others }
}

t.test('a test is shown against the run before and the version before, where those differ', (t) => {
  const text = (one: ReportedRun['tests'][number]) => runText({ ...RUN, tests: [one] }, []).split('\n')[0]
  t.match(text(share(3)), /^ {2}✗ says the price {2}3 of 5, \d+–\d+ %$/)
  t.match(text(share(3, { before: { passed: 3, total: 5 }, published: { version: 7, passed: 6, total: 10 } })), / %$/)
  t.match(
    text(share(3, { before: { passed: 1, total: 5 }, published: { version: 7, passed: 5, total: 5 } })),
    / {2}\(before: 1 of 5; version 7: 5 of 5\)$/,
  )
  t.end()
})
