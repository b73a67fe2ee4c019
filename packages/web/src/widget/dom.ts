type Children = (Node | string)[]

/** An element with these properties and children. */
export function make<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  set: Partial<HTMLElementTagNameMap[K]> = {},
  children: Children = [],
): HTMLElementTagNameMap[K] {
  const element = Object.assign(document.createElement(tag), set)
  element.append(...children)
  return element
}

/** Strokes on a grid of 24, made without HTML: pages may allow none of scripts (Trusted Types). */
export function icon(strokes: string): SVGSVGElement {
  const svg = document.createElementNS('http://www.w3.org/2000/svg', 'svg')
  const path = document.createElementNS('http://www.w3.org/2000/svg', 'path')
  svg.setAttribute('viewBox', '0 0 24 24')
  svg.setAttribute('aria-hidden', 'true')
  path.setAttribute('d', strokes)
  svg.append(path)
  return svg
}

export const WAVE_ICON = 'M4 10v4M8 6v12M12 3v18M16 7v10M20 10v4'
export const DOWN_ICON = 'M6 9l6 6 6-6'
