import { structuredPatch } from 'diff'

/** What two versions of an agent differ in. Pure. */

export interface FieldChange {
  field: string
  from: unknown
  to: unknown
  /** Of a text of several lines: its changed lines with those around them, as a unified diff. */
  patch?: string
  /** It differs in secrets, which are not shown. */
  secret?: true
}

/** Texts that differ in more lines are shown whole. */
const MOST_EDITS = 2_000
const CONTEXT_LINES = 3

/** Of two bodies with the same fields; `isSealedSame` says whether a field whose shown value is the same is so with its secrets. */
export function fieldChanges(
  from: Readonly<Record<string, unknown>>,
  to: Readonly<Record<string, unknown>>,
  isSealedSame: (field: string) => boolean = () => true,
): FieldChange[] {
  return Object.keys({ ...from, ...to }).flatMap((field): FieldChange[] => {
    const [before, after] = [from[field], to[field]]
    if (JSON.stringify(before) === JSON.stringify(after)) {
      return isSealedSame(field) ? [] : [{ field, from: before, to: after, secret: true }]
    }
    const patch = patchOf(before, after)
    return [{ field, from: before, to: after, ...(patch === undefined ? {} : { patch }) }]
  })
}

function patchOf(before: unknown, after: unknown): string | undefined {
  if (typeof before !== 'string' || typeof after !== 'string' || !`${before}${after}`.includes('\n')) return undefined
  const options = { context: CONTEXT_LINES, maxEditLength: MOST_EDITS }
  const hunks = structuredPatch('', '', before, after, '', '', options)?.hunks
  if (hunks === undefined) return undefined
  return hunks
    .map(({ oldStart, oldLines, newStart, newLines, lines }) =>
      [`@@ -${oldStart},${oldLines} +${newStart},${newLines} @@`, ...lines].join('\n'),
    )
    .join('\n')
}
