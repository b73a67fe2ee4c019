import type { ReportedCase, ReportedRun } from './run-report.ts'

/**
 * A run in the XML that CI systems read: `testsuite` and `testcase` with `failure`, `error` or `skipped`
 * (https://github.com/testmoapp/junitxml). What could not be judged is a failure: it is no pass.
 */
export function junitXml(run: ReportedRun, cases: readonly ReportedCase[]): string {
  const { total, passed, errors } = run
  const counts = `tests="${total}" failures="${total - passed - errors}" errors="${errors}"`
  const seconds = cases.reduce((sum, { duration_ms }) => sum + (duration_ms ?? 0), 0) / 1_000
  const body = cases.map(caseXml).join('\n')
  return `<?xml version="1.0" encoding="UTF-8"?>
<testsuites name="patchbay" ${counts}>
  <testsuite name="${escaped(`agent ${run.version}`)}" ${counts} time="${seconds.toFixed(3)}">
${body}
  </testsuite>
</testsuites>
`
}

function caseXml(one: ReportedCase): string {
  const { name, repeat, verdict, why, duration_ms } = one
  const open = `    <testcase classname="patchbay" name="${escaped(repeat === 1 ? name : `${name} #${repeat}`)}" time="${((duration_ms ?? 0) / 1_000).toFixed(3)}"`
  if (verdict === 'pass') return `${open}/>`
  const tag = verdict === 'error' || verdict === null ? 'error' : 'failure'
  const message = escaped(why ?? 'no verdict')
  const facts = [
    ...one.facts.map((fact) => ({ what: fact.fact, ...fact })),
    ...one.judged.map((judged) => ({ what: judged.sentence, ...judged })),
  ]
    .map(({ what, verdict, why }) => `${verdict}: ${what}${why === undefined ? '' : ` – ${why}`}`)
    .join('\n')
  const said = one.turns.map(({ role, text }) => `${role === 'user' ? 'Caller' : 'Agent'}: ${text}`).join('\n')
  return `${open}>
      <${tag} type="${verdict ?? 'not run'}" message="${message}">${escaped(`${facts}\n\n${said}`)}</${tag}>
    </testcase>`
}

/** Text in XML 1.0: characters that it does not allow are left out. */
function escaped(text: string): string {
  return text
    .replace(/[^\t\n\r\u0020-\uD7FF\uE000-\uFFFD\u{10000}-\u{10FFFF}]/gu, '')
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
}
