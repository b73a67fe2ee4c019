const FENCE = /^\s*```(?:json)?\s*\n?([\s\S]*?)\n?\s*```\s*$/i

/**
 * The arguments of a tool call as the model wrote them, without a fence around them; undefined where they were cut off. What
 * is open at the end would be closed by the parser behind it: `{"amount": 12` is no 12.
 */
export function wholeToolArguments(text: string): string | undefined {
  const inner = FENCE.exec(text)?.[1] ?? text
  if (inner.trim() === '') return '{}'
  return isCutOff(inner) ? undefined : inner
}

/** Whether a string, a list or an object is open at the end. Quotes other than JSON's count where a value may begin. */
function isCutOff(text: string): boolean {
  let depth = 0
  let quote: string | undefined
  let before = ''
  for (let at = 0; at < text.length; at++) {
    const char = text[at] as string
    if (quote !== undefined) {
      if (char === '\\') at++
      else if (char === quote) {
        quote = undefined
        before = char
      }
      continue
    }
    if (char === '"' || (char === "'" && (before === '' || '{[,:'.includes(before)))) quote = char
    else if (char === '{' || char === '[') depth++
    else if (char === '}' || char === ']') depth--
    if (char.trim() !== '') before = char
  }
  return quote !== undefined || depth > 0 || before === ':' || (depth === 0 && before === ',')
}
