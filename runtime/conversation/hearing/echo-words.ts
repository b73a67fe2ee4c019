import { plain } from '../languages/plain.ts'

/** Fewer words than this may be anybody's. */
const MIN_WORDS = 3
/** An echo comes back within a few words of what was said last. */
const RECENT_WORDS = 40
/** A recogniser mishears an echo; so many of its words are right. */
const MIN_SHARE = 0.75
/** Words of the agent that it may miss between those it heard. */
const MAX_MISSED = 2

/** Whether a transcript is what the agent has just said, come back on the line. */
export function isEchoOf(transcript: string, said: string): boolean {
  const heard = plain(transcript).split(' ')
  // Of more words than the agent's last ones hold, too few can be of those.
  if (heard.length < MIN_WORDS || heard.length * MIN_SHARE > RECENT_WORDS) return false
  const recent = plain(said).split(' ').slice(-RECENT_WORDS)
  for (let from = 0; from < recent.length; from++) {
    const common = commonLength(heard, recent.slice(from, from + heard.length + MAX_MISSED))
    if (common >= MIN_SHARE * heard.length) return true
  }
  return false
}

/** Length of the longest common subsequence. */
function commonLength(a: readonly string[], b: readonly string[]): number {
  let row = new Array<number>(b.length + 1).fill(0)
  for (const word of a) {
    const next = [0]
    for (let j = 0; j < b.length; j++) next.push(word === b[j] ? row[j]! + 1 : Math.max(row[j + 1]!, next[j]!))
    row = next
  }
  return row[b.length]!
}
