import { useState } from 'react'

/** A choice of this browser, such as the columns of a list; what it does not understand any more is as if there were none. */
export function useKept<T>(key: string, read: (kept: unknown) => T): [T, (next: T) => void] {
  const [value, setValue] = useState<T>(() => {
    try {
      return read(JSON.parse(localStorage.getItem(key) ?? 'null'))
    } catch {
      return read(null)
    }
  })
  return [
    value,
    (next) => {
      setValue(next)
      try {
        localStorage.setItem(key, JSON.stringify(next))
      } catch {
        // Full, or not allowed: the choice lasts as long as the page.
      }
    },
  ]
}
