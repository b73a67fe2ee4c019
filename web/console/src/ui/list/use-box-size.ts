import { useLayoutEffect, useState } from 'react'

/** The width of an element and its distance from the page's top, as both change, and the ref that makes it this one. */
export function useBoxSize<E extends HTMLElement>() {
  const [element, ref] = useState<E | null>(null)
  const [size, setSize] = useState({ widthPx: 0, topPx: 0 })
  useLayoutEffect(() => {
    if (element === null) return
    const measure = () => {
      const { width, top } = element.getBoundingClientRect()
      const next = { widthPx: Math.round(width), topPx: Math.round(top + scrollY) }
      setSize((before) => (before.widthPx === next.widthPx && before.topPx === next.topPx ? before : next))
    }
    measure()
    // What stands above the element changes the height of the page.
    const observer = new ResizeObserver(measure)
    for (const one of [element, document.body]) observer.observe(one)
    return () => observer.disconnect()
  }, [element])
  return { element, ref, ...size }
}
