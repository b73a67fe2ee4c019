import type { VersionDiff } from '../../../data/types.ts'
import { t } from '../../../language/t.ts'
import { type DiffLine, diffLines } from './diff-lines.ts'
import { fieldName } from './field-name.ts'

const STYLES: Readonly<Record<DiffLine['kind'], string>> = {
  same: '',
  out: 'bg-bad-soft text-bad',
  in: 'bg-good-soft text-good',
  gap: 'text-muted',
}
const SIGNS: Readonly<Record<DiffLine['kind'], string>> = { same: '  ', out: '− ', in: '+ ', gap: '⋯' }

interface ChangesProps {
  changes: VersionDiff['changes']
  /** Shown from what they lead to, to what they come from. */
  isBack?: boolean
}

/** Field by field, the lines that go and those that come. */
export function Changes({ changes, isBack = false }: ChangesProps) {
  if (changes.length === 0) return <p className="text-muted">{t('Nothing differs.')}</p>
  return (
    <ul className="space-y-4">
      {changes.map((change) => (
        <li key={change.field}>
          <h3 className="mb-1 text-sm font-medium">{fieldName(change.field)}</h3>
          {change.secret ? (
            <p className="text-sm text-muted">{t('It differs in secrets, which are not shown.')}</p>
          ) : (
            <pre
              className="max-h-80 overflow-y-auto rounded-md border border-line py-1 text-xs whitespace-pre-wrap wrap-anywhere"
              // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard
              tabIndex={0}
            >
              {diffLines(change, isBack).map((line, at) => (
                <Line key={`${change.field}-${at}`} line={line} />
              ))}
            </pre>
          )}
        </li>
      ))}
    </ul>
  )
}

function Line({ line: { kind, text } }: { line: DiffLine }) {
  const Tag = kind === 'in' ? 'ins' : kind === 'out' ? 'del' : 'span'
  return (
    <Tag className={`block px-3 no-underline ${STYLES[kind]}`}>
      {SIGNS[kind]}
      {text}
    </Tag>
  )
}
