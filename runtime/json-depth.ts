const QUOTE = 34
const BACKSLASH = 92
const OPEN = new Set([91, 123])
const CLOSE = new Set([93, 125])

/**
 * Whether arrays and objects lie in each other deeper than `most`. One pass over the text, which need not be valid JSON:
 * what it says of such text is meaningless, and its parser refuses it.
 */
export function isNestedDeeper(text: string, most: number): boolean {
  if (text.length <= 2 * most) return false
  let depth = 0
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (code === QUOTE) {
      for (at++; at < text.length && text.charCodeAt(at) !== QUOTE; at++) if (text.charCodeAt(at) === BACKSLASH) at++
    } else if (OPEN.has(code)) {
      if (++depth > most) return true
    } else if (CLOSE.has(code)) depth--
  }
  return false
}
