/** What a JSON text may be before it is parsed: what parses, checks or writes it costs time by its parts, not by its length. */
export interface JsonBounds {
  /** Arrays and objects that lie in each other. */
  depth: number
  /** Fields, arrays and objects together. */
  parts: number
}

/** Of what comes from outside: whatever walks it may recurse, and holds up the calls of the loop for a microsecond a part. */
export const JSON_BOUNDS: JsonBounds = { depth: 64, parts: 5_000 }

const QUOTE = 34
const COLON = 58
const BACKSLASH = 92

/**
 * Which bound the text goes beyond. One pass over it, as fast as it can be searched for quotes; it need not be valid JSON: what
 * is said of such text is meaningless, and its parser refuses it.
 */
export function beyondBounds(text: string, most: JsonBounds): keyof JsonBounds | undefined {
  let depth = 0
  let parts = 0
  for (let at = 0; at < text.length; at++) {
    switch (text.charCodeAt(at)) {
      case QUOTE:
        at = endOfString(text, at)
        break
      case COLON:
        if (++parts > most.parts) return 'parts'
        break
      case 91: // [
      case 123: // {
        if (++depth > most.depth) return 'depth'
        if (++parts > most.parts) return 'parts'
        break
      case 93: // ]
      case 125: // }
        depth--
    }
  }
  return undefined
}

/** Parses JSON from outside. Throws SyntaxError for text that is not JSON or goes beyond the bounds. */
export function parseBounded(text: string, most: JsonBounds = JSON_BOUNDS): unknown {
  const beyond = beyondBounds(text, most)
  if (beyond === 'depth') throw new SyntaxError(`The JSON is nested over ${most.depth} deep`)
  if (beyond === 'parts') throw new SyntaxError(`The JSON has over ${most.parts} fields, arrays and objects`)
  return JSON.parse(text)
}

/** Where the string that begins at `from` ends: at the next quote that no backslash escapes. */
function endOfString(text: string, from: number): number {
  for (let quote = text.indexOf('"', from + 1); quote !== -1; quote = text.indexOf('"', quote + 1)) {
    let before = quote
    while (text.charCodeAt(before - 1) === BACKSLASH) before--
    if ((quote - before) % 2 === 0) return quote
  }
  return text.length
}
