/** Letters that no Unicode rule takes apart, as a recogniser may write them, too. */
const SAME: Readonly<Record<string, string>> = { ß: 'ss', ł: 'l', ø: 'o', æ: 'ae', œ: 'oe', ı: 'i', đ: 'd' }

/**
 * Small letters without accents, one blank between words: what the patterns of a language are matched with. Marks are taken off Latin
 * letters alone: of kana and of most other scripts they make another letter.
 */
export function plain(text: string): string {
  return text
    .normalize('NFKD')
    .replace(/(\p{Script=Latin})\p{M}+/gu, '$1')
    .normalize('NFC')
    .toLowerCase()
    .replace(/[ßłøæœıđ]/g, (letter) => SAME[letter] ?? letter)
    .replace(/[^\p{L}\p{M}\p{N}]+/gu, ' ')
    .trim()
}
