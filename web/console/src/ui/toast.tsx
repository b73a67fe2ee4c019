import { useSyncExternalStore } from 'react'
import { t } from '../language/t.ts'
import { Icon } from './icon.tsx'

interface Toast {
  readonly id: number
  readonly text: string
  readonly tone: 'good' | 'bad'
}

const SHOWN_MS = { good: 4_000, bad: 10_000 }
const MAX_TOASTS = 4

let toasts: readonly Toast[] = []
let nextId = 0
const listeners = new Set<() => void>()

function set(next: readonly Toast[]): void {
  toasts = next
  for (const listener of listeners) listener()
}

/** Says what came of an action. */
export function toast(text: string, tone: Toast['tone'] = 'good'): void {
  const id = nextId++
  set([...toasts, { id, text, tone }].slice(-MAX_TOASTS))
  setTimeout(() => dismiss(id), SHOWN_MS[tone])
}

const dismiss = (id: number): void => set(toasts.filter((one) => one.id !== id))

const subscribe = (listener: () => void) => {
  listeners.add(listener)
  return () => void listeners.delete(listener)
}

export function Toasts() {
  const shown = useSyncExternalStore(subscribe, () => toasts)
  return (
    <div
      aria-live="polite"
      className="pointer-events-none fixed right-4 bottom-4 z-60 flex w-80 max-w-[calc(100vw-2rem)] flex-col gap-2"
    >
      {shown.map(({ id, text, tone }) => (
        <div
          className="pointer-events-auto flex items-start gap-2.5 rounded-md border border-line bg-surface px-3 py-2.5 text-sm shadow-[var(--shadow)]"
          key={id}
        >
          <Icon
            className={`mt-0.5 ${tone === 'good' ? 'text-good' : 'text-bad'}`}
            name={tone === 'good' ? 'check' : 'warning'}
            size={16}
          />
          <span className="min-w-0 flex-1 wrap-anywhere">{text}</span>
          <button
            aria-label={t('Dismiss')}
            className="text-muted hover:text-ink"
            onClick={() => dismiss(id)}
            type="button"
          >
            <Icon name="close" size={14} />
          </button>
        </div>
      ))}
    </div>
  )
}
