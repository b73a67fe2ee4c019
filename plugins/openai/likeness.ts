/** Shorter texts are not compared: `12:30` is spoken in other letters than it is written. */
const FEWEST_LETTERS = 24
/** Of the pairs of letters, so many must be common to both. Numbers and abbreviations are written out in transcripts. */
const LEAST_COMMON = 0.35

/** Whether what was said is the text that was to be said, give or take how it is written. */
export function isLikeness(text: string, said: string): boolean {
  const [wanted, heard] = [pairsOf(text), pairsOf(said)]
  if (wanted.length < FEWEST_LETTERS) return true
  const left = new Map<string, number>()
  for (const pair of heard) left.set(pair, (left.get(pair) ?? 0) + 1)
  let common = 0
  for (const pair of wanted) {
    const count = left.get(pair) ?? 0
    if (count === 0) continue
    left.set(pair, count - 1)
    common++
  }
  return (2 * common) / (wanted.length + heard.length) >= LEAST_COMMON
}

function pairsOf(text: string): string[] {
  const letters = text.toLowerCase().match(/\p{L}/gu) ?? []
  return letters.slice(1).map((letter, i) => `${letters[i]}${letter}`)
}
