/** Counts the assertions of a whole TAP run from its closing comment (`# { total: 9, pass: 8, fail: 1 }`). */
export function countResults(tap: string): { passed: number; failed: number } {
  const summaries = tap.match(/^# \{ total: .*\}$/gm) ?? []
  const summary = summaries.at(-1) ?? ''
  const count = (name: string): number => Number(summary.match(new RegExp(`\\b${name}: (\\d+)`))?.[1] ?? 0)
  return { passed: count('pass'), failed: count('fail') }
}

/** A test point of TAP 14, however deep: `    not ok 3 - the counts come true # time=5ms`. */
const FAILED = /^( *)not ok \d+ (?:- )?(.*?)(?: # time=\S+)?(?: \{)?$/
const SUBTEST = /^( *)# Subtest: (.*)$/
/** Subtests are indented by as much. */
const INDENT = 4

/** What failed in a TAP run: the names of the tests around it, its own, and what is told of it. */
export function failuresOf(tap: string): string[] {
  const around: { name: string; before: number }[] = []
  const failures: string[] = []
  const lines = tap.split('\n')
  for (let at = 0; at < lines.length; at++) {
    const line = lines[at] ?? ''
    const subtest = SUBTEST.exec(line)
    if (subtest !== null) around[depthOf(subtest)] = { name: subtest[2] ?? '', before: failures.length }
    const failed = FAILED.exec(line)
    if (failed === null || /# (TODO|SKIP)\b/.test(line)) continue
    const depth = depthOf(failed)
    const description = failed[2] ?? ''
    const own = around[depth]
    // That of a test whose assertions were told of already.
    if (own?.name === description && own.before < failures.length) continue
    const names = [...around.slice(0, depth).map(({ name }) => name), description]
    failures.push([names.join(' > '), ...diagnosticAfter(lines, at)].join('\n'))
  }
  return failures
}

function depthOf(match: RegExpExecArray): number {
  return (match[1] ?? '').length / INDENT
}

/** The YAML between `---` and `...` behind a test point, without its indentation. */
function diagnosticAfter(lines: readonly string[], at: number): string[] {
  if (lines[at + 1]?.trim() !== '---') return []
  const end = lines.findIndex((line, index) => index > at && line.trim() === '...')
  const told = lines.slice(at + 2, end < 0 ? undefined : end)
  const indent = (lines[at + 1] ?? '').indexOf('---')
  return told.map((line) => `  ${line.slice(indent)}`)
}
