import { shareText } from '../../runtime/agent-tests/wilson.ts'

/** What the API says of a run and of its cases: the fields that reports show. */
export interface ReportedRun {
  run_id: string
  status: string
  version: string
  total: number
  passed: number
  failed: number
  unsure: number
  errors: number
  tests: readonly {
    name: string
    total: number
    passed: number
    failed: number
    unsure: number
    errors: number
    before: { passed: number; total: number } | null
    published: { version: number; passed: number; total: number } | null
  }[]
}

export interface ReportedCase {
  name: string
  repeat: number
  verdict: string | null
  why: string | null
  facts: readonly { fact: string; verdict: string; why?: string }[]
  judged: readonly { sentence: string; verdict: string; why: string }[]
  turns: readonly { role: string; text: string; interrupted: boolean }[]
  tools: readonly { name: string; arguments: unknown; result: string }[]
  duration_ms: number | null
}

const MAX_REASONS = 3

/** A run for a terminal: each test in a line, with the reasons where it did not pass. */
export function runText(run: ReportedRun, cases: readonly ReportedCase[]): string {
  const lines = run.tests.flatMap(({ name, passed, total, before, published }) => {
    const whole = passed === total
    const share = total === 1 ? '' : `  ${shareText(passed, total)}`
    const differs = (other: typeof before) => other !== null && other.passed / other.total !== passed / total
    const earlier = [
      ...(before !== null && differs(before) ? [`before: ${before.passed} of ${before.total}`] : []),
      ...(published !== null && differs(published)
        ? [`version ${published.version}: ${published.passed} of ${published.total}`]
        : []),
    ]
    const was = earlier.length === 0 ? '' : `  (${earlier.join('; ')})`
    const reasons = cases
      .filter((one) => one.name === name && one.verdict !== 'pass')
      .slice(0, MAX_REASONS)
      .map(({ verdict, why }) => `      ${verdict ?? 'not run'}: ${why ?? 'no reason is known'}`)
    return [`  ${whole ? '✓' : '✗'} ${name}${share}${was}`, ...reasons]
  })
  return [...lines, '', summaryText(run)].join('\n')
}

/** `12 of 14 passed, 1 failed, 1 unsure`. */
export function summaryText({ passed, total, failed, unsure, errors, status }: ReportedRun): string {
  const rest = [
    ...(failed === 0 ? [] : [`${failed} failed`]),
    ...(unsure === 0 ? [] : [`${unsure} unsure`]),
    ...(errors === 0 ? [] : [`${errors} could not be run`]),
    ...(status === 'done' ? [] : [`the run is ${status}`]),
  ]
  return [`${passed} of ${total} passed`, ...rest].join(', ')
}

/** 0: all passed; 1: something failed or could not be judged; 2: something could not be run. */
export function exitCodeOf({ status, total, passed, errors }: ReportedRun): 0 | 1 | 2 {
  if (status !== 'done' || errors > 0 || total === 0) return 2
  return passed === total ? 0 : 1
}
