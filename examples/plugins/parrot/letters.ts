/** How often each letter comes in a text, of length one. */
export function embed(text: string): number[] {
  const counts = Array<number>(26).fill(0)
  for (const letter of text.toLowerCase()) {
    const place = letter.charCodeAt(0) - 97
    if (place >= 0 && place < 26) counts[place] = (counts[place] ?? 0) + 1
  }
  const length = Math.hypot(...counts) || 1
  return counts.map((count) => count / length)
}
