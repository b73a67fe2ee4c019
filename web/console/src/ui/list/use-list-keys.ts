import { useEffect, useRef, useState } from 'react'

interface ListKeys {
  list: HTMLElement | null
  count: number
  /** The first row that is drawn. */
  first: number
  onMove: (index: number) => void
  onEscape: (() => void) | undefined
}

const STEPS: Readonly<Record<string, number>> = { j: 1, ArrowDown: 1, k: -1, ArrowUp: -1 }
/** Where letters are written and arrows move something else. */
const TAKES_KEYS = 'input, textarea, select, [contenteditable], [role=menu], [role=tablist], [role=dialog]'

/** The keyboard in a list: j and k or the arrows move, Escape goes back. One row takes the Tab key. */
export function useListKeys(keys: ListKeys) {
  const [at, setAt] = useState(0)
  const latest = useRef(keys)
  latest.current = keys
  const place = useRef(at)
  place.current = Math.min(at, Math.max(0, keys.count - 1))
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      const { list, count, first, onMove, onEscape } = latest.current
      const { key, target, altKey, ctrlKey, metaKey } = event
      if (list === null || altKey || ctrlKey || metaKey || event.defaultPrevented) return
      if (!(target instanceof Element) || target.closest(TAKES_KEYS) !== null) return
      if (document.querySelector('[role=dialog], [role=menu]') !== null) return
      if (key === 'Escape' && onEscape) return onEscape()
      const step = STEPS[key]
      const isInside = list.contains(document.activeElement)
      // Outside the list the arrows scroll the page.
      if (step === undefined || (!isInside && key.startsWith('Arrow'))) return
      event.preventDefault()
      const next = isInside ? place.current + step : first
      const index = Math.max(0, Math.min(count - 1, next))
      setAt(index)
      onMove(index)
      list.querySelector<HTMLElement>(`[data-row="${index}"]`)?.focus()
    }
    addEventListener('keydown', onKey)
    return () => removeEventListener('keydown', onKey)
  }, [])
  return { at: place.current, setAt }
}
