/** What of a text was not heard: from behind the last words that were. Undefined where nothing is left, or they are not in it. */
export function restOf(text: string, heard: string): string | undefined {
  const at = text.indexOf(heard.trim())
  const rest = at < 0 ? '' : text.slice(at + heard.trim().length).trim()
  return rest === '' ? undefined : rest
}
