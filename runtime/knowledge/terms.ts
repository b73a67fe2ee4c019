import { stemmer } from 'stemmer'
import type { Terms } from '../plugin/contract.ts'

const STOP_WORDS = new Set(
  (
    'a an and are as at be been but by can could did do does for from had has have he her his how i if in into is it its ' +
    'me my no not of on or our she should so than that the their them then there these they this to us was we were what ' +
    'when where which who why will with would you your'
  ).split(' '),
)

/** Scripts written without spaces between words: their runs become overlapping pairs of characters. */
const UNSPACED = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}]/u

/** Words of `text`, lower-cased, without accents and English stop words, stemmed; in order, with repetitions. */
export function* words(text: string): Generator<string> {
  const folded = text
    .normalize('NFKD')
    .toLowerCase()
    .replace(/\p{M}+/gu, '')
  for (const [word] of folded.matchAll(/[\p{L}\p{N}]+/gu)) {
    if (/^[a-z]+$/.test(word)) {
      if (!STOP_WORDS.has(word) && word.length <= 64) yield word.length > 2 ? stemmer(word) : word
    } else if (UNSPACED.test(word)) {
      const characters = [...word]
      if (characters.length === 1) yield word
      for (let i = 0; i + 1 < characters.length; i++) yield characters[i]! + characters[i + 1]!
    } else if (word.length <= 64) yield word
  }
}

export function termsOf(text: string): Terms {
  const counts = new Map<number, number>()
  for (const word of words(text)) {
    const id = hash(word)
    counts.set(id, (counts.get(id) ?? 0) + 1)
  }
  const ids = Uint32Array.from(counts.keys()).sort()
  return { ids, counts: Uint16Array.from(ids, (id) => Math.min(counts.get(id)!, 0xffff)) }
}

/** FNV-1a over UTF-16 units, finished by murmur3's mixer so that near words spread over all bits. */
function hash(word: string): number {
  let h = 0x811c9dc5
  for (let i = 0; i < word.length; i++) h = Math.imul(h ^ word.charCodeAt(i), 0x01000193)
  h = Math.imul(h ^ (h >>> 16), 0x85ebca6b)
  h = Math.imul(h ^ (h >>> 13), 0xc2b2ae35)
  return (h ^ (h >>> 16)) >>> 0
}
