import { Link } from '@tanstack/react-router'
import { type ReactNode, useId } from 'react'
import { t } from '../../language/t.ts'
import { Button, buttonClass } from '../button.tsx'
import { Icon } from '../icon.tsx'

interface SidePanelProps {
  /** What the list is of. */
  label: string
  /** The page of what is shown; absent: it has none. */
  path: string | undefined
  /** Over the page instead of beside the list, where there is no room. */
  isOver: boolean
  onClose: () => void
  children: ReactNode
}

/** The chosen row of a list, while the list stays. */
export function SidePanel({ label, path, isOver, onClose, children }: SidePanelProps) {
  const id = useId()
  const place = isOver
    ? 'fixed inset-y-0 right-0 z-35 w-full max-w-md border-l shadow-[var(--shadow)]'
    : 'sticky top-4 max-h-[calc(100dvh-2rem)] rounded-lg border'
  return (
    <aside aria-labelledby={id} className={`overflow-y-auto border-line bg-surface ${place}`}>
      <div className="sticky top-0 z-10 flex items-center justify-between gap-2 border-b border-line bg-surface px-4 py-2">
        <h2 className="sr-only" id={id}>
          {t('Chosen of {list}', { list: label })}
        </h2>
        {path === undefined ? (
          <span />
        ) : (
          <Link className={buttonClass('plain', 'sm')} to={path}>
            {t('Open')} <Icon name="chevron" size={14} />
          </Link>
        )}
        <Button aria-label={t('Close')} icon="close" kind="quiet" onClick={onClose} size="sm" />
      </div>
      <div className="space-y-4 p-4">{children}</div>
    </aside>
  )
}
