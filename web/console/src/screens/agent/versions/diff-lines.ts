import type { VersionDiff } from '../../../data/types.ts'

type Change = VersionDiff['changes'][number]

/** A line of two texts: in both, in the first alone (`out`), in the second alone (`in`), or the place of lines left out. */
export interface DiffLine {
  readonly kind: 'same' | 'out' | 'in' | 'gap'
  readonly text: string
}

const CONTEXT_LINES = 3
const KINDS: Readonly<Record<string, DiffLine['kind']>> = { '-': 'out', '+': 'in', ' ': 'same', '@': 'gap' }
const OPPOSITE = { in: 'out', out: 'in', same: 'same', gap: 'gap' } as const

/** The lines in which a field differs, with those around them. `isBack`: from the second to the first. Pure. */
export function diffLines({ from, to, patch }: Change, isBack: boolean): DiffLine[] {
  if (patch === undefined) return isBack ? whole(textOf(to), textOf(from)) : whole(textOf(from), textOf(to))
  const lines = patch.split('\n').flatMap((line, at): DiffLine[] => {
    const kind = KINDS[line[0] ?? '']
    // What is left, such as `\ No newline at end of file`, is no line of the text.
    if (kind === undefined || (kind === 'gap' && at === 0)) return []
    return [{ kind, text: kind === 'gap' ? '' : line.slice(1) }]
  })
  return isBack ? back(lines) : lines
}

function back(lines: readonly DiffLine[]): DiffLine[] {
  const turned: DiffLine[] = []
  let added: DiffLine[] = []
  for (const { kind, text } of lines) {
    const line = { kind: OPPOSITE[kind], text }
    if (line.kind === 'in') {
      added.push(line)
    } else if (line.kind === 'out') {
      turned.push(line)
    } else {
      turned.push(...added, line)
      added = []
    }
  }
  return [...turned, ...added]
}

/** Of texts of which only these are known: everything between what both begin and end with. */
function whole(before: string, after: string): DiffLine[] {
  const [a, b] = [before, after].map((text) => (text === '' ? [] : text.split('\n'))) as [string[], string[]]
  const shorter = Math.min(a.length, b.length)
  let head = 0
  while (head < shorter && a[head] === b[head]) head++
  let tail = 0
  while (tail < shorter - head && a.at(-1 - tail) === b.at(-1 - tail)) tail++
  const line = (kind: DiffLine['kind']) => (text: string) => ({ kind, text })
  const ending = a.slice(a.length - tail)
  return [
    ...(head > CONTEXT_LINES ? [{ kind: 'gap' as const, text: '' }] : []),
    ...a.slice(Math.max(0, head - CONTEXT_LINES), head).map(line('same')),
    ...a.slice(head, a.length - tail).map(line('out')),
    ...b.slice(head, b.length - tail).map(line('in')),
    ...ending.slice(0, CONTEXT_LINES).map(line('same')),
    ...(tail > CONTEXT_LINES ? [{ kind: 'gap' as const, text: '' }] : []),
  ]
}

const textOf = (value: unknown): string =>
  value === undefined || value === null ? '' : typeof value === 'string' ? value : JSON.stringify(value, null, 2)
