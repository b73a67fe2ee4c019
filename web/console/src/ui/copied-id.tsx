import { t } from '../language/t.ts'
import { Icon } from './icon.tsx'
import { toast } from './toast.tsx'

/** An id that a click copies. */
export function CopiedId({ id }: { id: string }) {
  return (
    <button
      className="inline-flex max-w-full items-center gap-1.5 rounded-sm font-mono text-xs text-muted hover:text-ink"
      onClick={() => void navigator.clipboard.writeText(id).then(() => toast(t('Copied')))}
      title={t('Copy')}
      type="button"
    >
      <span className="truncate">{id}</span>
      <Icon name="copy" size={14} />
    </button>
  )
}
