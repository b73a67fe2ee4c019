import { shareText } from '../../runtime/agent-tests/wilson.ts'
import { type ReportedCase, type ReportedRun, summaryText } from './run-report.ts'

/** A run as one page without scripts: the tests, and of each case its conversation and facts. */
export function htmlReport(run: ReportedRun, cases: readonly ReportedCase[]): string {
  const tests = run.tests.map(({ name, passed, total }) => {
    const own = cases.filter((one) => one.name === name)
    return `<section><h2 class="${passed === total ? 'pass' : 'fail'}">${escaped(name)}</h2><p>${escaped(shareText(passed, total))}</p>${own.map(caseHtml).join('')}</section>`
  })
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<meta name="viewport" content="width=device-width"><title>Tests of an agent</title>
<style>
body{font:16px/1.5 system-ui,sans-serif;max-width:56rem;margin:2rem auto;padding:0 1rem;color:#1b1b1f;background:#fff}
h2{font-size:1.1rem;margin:2rem 0 0}.pass::before{content:"✓ ";color:#0a7a35}.fail::before{content:"✗ ";color:#b3261e}
details{border:1px solid #ccc;border-radius:6px;padding:.5rem .75rem;margin:.5rem 0}summary{cursor:pointer}
dl{display:grid;grid-template-columns:max-content 1fr;gap:.2rem .75rem;margin:.5rem 0}dt{font-weight:600}dd{margin:0}
@media(prefers-color-scheme:dark){body{color:#e4e2e6;background:#1b1b1f}}
</style></head><body><h1>Tests of an agent</h1><p>${escaped(summaryText(run))}; version ${escaped(run.version)}; run ${escaped(run.run_id)}</p>
${tests.join('\n')}
</body></html>
`
}

function caseHtml({ repeat, verdict, why, facts, judged, turns, tools }: ReportedCase): string {
  const verdicts = [
    ...facts.map((fact) => ({ what: fact.fact, verdict: fact.verdict, why: fact.why })),
    ...judged.map(({ sentence, ...one }) => ({ what: sentence, verdict: one.verdict, why: one.why })),
  ].map(
    (one) =>
      `<li class="${one.verdict === 'pass' ? 'pass' : 'fail'}">${escaped(one.what)}${one.why === undefined ? '' : ` – ${escaped(one.why)}`}</li>`,
  )
  const said = turns.map(({ role, text, interrupted }) => {
    return `<dt>${role === 'user' ? 'Caller' : 'Agent'}</dt><dd>${escaped(text)}${interrupted ? ' (cut off)' : ''}</dd>`
  })
  const called = tools.map(
    ({ name, arguments: given, result }) =>
      `<li>${escaped(name)} ${escaped(JSON.stringify(given))} → ${escaped(result)}</li>`,
  )
  const open = verdict === 'pass' ? '' : ' open'
  return `<details${open}><summary class="${verdict === 'pass' ? 'pass' : 'fail'}">Run ${repeat}${why === null ? '' : `: ${escaped(why)}`}</summary>
<dl>${said.join('')}</dl>${called.length === 0 ? '' : `<p>Tools</p><ul>${called.join('')}</ul>`}<ul>${verdicts.join('')}</ul></details>`
}

const escaped = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;')
