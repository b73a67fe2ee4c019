import { t } from '../../language/t.ts'
import { Icon } from '../../ui/icon.tsx'

interface FindingsProps<Check extends string> {
  findings: readonly { check: Check; ok: boolean; text: string }[]
  names: Readonly<Record<Check, string>>
}

/** What was found of a trunk, one after the other; the sentences are the instance's own. */
export function Findings<Check extends string>({ findings, names }: FindingsProps<Check>) {
  return (
    <ul className="space-y-2">
      {findings.map(({ check, ok, text }) => (
        <li className="flex gap-2.5" key={`${check} ${text}`}>
          <Icon className={`mt-0.5 ${ok ? 'text-good' : 'text-bad'}`} name={ok ? 'check' : 'warning'} size={17} />
          <div className="min-w-0">
            <div className="font-medium">
              {names[check]} <span className="sr-only">{ok ? t('fine') : t('failed')}</span>
            </div>
            <div className="text-sm text-muted wrap-anywhere" lang="en">
              {text}
            </div>
          </div>
        </li>
      ))}
    </ul>
  )
}
